"""Paints a document of explain for a notebook: one piece of HTML with its own styles and no script. It knows kinds of blocks and tones; the words are the module's."""

from __future__ import annotations

from html import escape
from typing import Any, Callable, Dict, List, Mapping

# Both read well on white and on black.
_COLOURS = {"run": "#3a9a5b", "ok": "#3a9a5b", "wait": "#c98a1b", "all": "#a66bc4", "fail": "#d9534f", "stop": "#888", "cnt": "#a66bc4", "ui": "#4a86c5"}


def page(document: Mapping[str, Any]) -> str:
    """The elements of a document."""
    verdict = document["verdict"]
    parts = [f"<p{_tone(verdict)}><b>{escape(verdict['title'])}</b></p>", _paragraph(verdict.get("text", "")), f"<p>{_because(verdict)}</p>"]
    for block in document["blocks"]:
        if block.get("title"):
            parts.append(f"<p><b>{escape(block['title'])}</b></p>")
        paint = _PAINTERS.get(block["block"])  # a block that a later module has is left out
        if paint:
            parts.append(paint(block))
        if block.get("more"):
            parts.append(f"<p>+ {block['more']}</p>")
    return "<div>" + "".join(parts) + _paragraph(document.get("releases", "")) + "</div>"


def _tone(of: Mapping[str, Any], more: str = "") -> str:
    colour = _COLOURS.get(of.get("tone", ""), "")
    style = more + (f"color:{colour}" if colour else "")
    return f' style="{style}"' if style else ""


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _because(of: Mapping[str, Any]) -> str:
    """Why, where, and the page of Kubernetes' documentation that says so."""
    parts = [escape(of[name]) for name in ("quote", "because") if of.get(name)]
    if of.get("path"):
        parts.append(f"<code>{escape(of['path'])}</code>")
    source = of.get("source")
    if source and source["url"].startswith("https://"):
        parts.append(f'<a href="{escape(source["url"])}" rel="noreferrer">{escape(source["name"])}</a>')
    return f"<small>{' · '.join(parts)}</small>" if parts else ""


def _line(item: Mapping[str, Any]) -> str:
    times = f" ×{item['times']}" if item.get("times", 0) > 1 else ""
    return f"<span{_tone(item)}>{escape(item.get('text', ''))}{times}</span> {_because(item)}"


def _items(block: Mapping[str, Any]) -> str:
    return "<ul>" + "".join(f"<li>{_line(item)}</li>" for item in block["items"]) + "</ul>"


def _layers(block: Mapping[str, Any]) -> str:
    cards: List[str] = []
    for card in block["cards"]:
        inner = _items(card) if card.get("items") else ""
        cards.append(f"<td style=\"vertical-align:top;text-align:left\"><b>{escape(card['title'])}</b><br>{_line(card)}{inner}</td>")
    return f"<table><tr>{''.join(cards)}</tr></table>"


def _table(block: Mapping[str, Any]) -> str:
    head = "".join(f"<th>{escape(column.get('text', ''))}</th>" for column in block["columns"])
    aligned = [' style="text-align:right"' if column.get("align") == "end" else ' style="text-align:left"' for column in block["columns"]]
    rows = "".join("<tr>" + "".join(f"<td{align}>{escape(str(cell))}</td>" for cell, align in zip(row["cells"], aligned)) + "</tr>" for row in block["rows"])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _terminal(block: Mapping[str, Any]) -> str:
    return "<pre>" + escape("\n".join(block["lines"])) + "</pre>"


def _grid(block: Mapping[str, Any]) -> str:
    rows = []
    for r in block["ranges"]:
        codes = str(r["from"]) if r["from"] == r["to"] else f"{r['from']}–{r['to']}"
        rows.append(f'<tr><td>{codes}</td><td style="text-align:left">{_line(r)}</td></tr>')
    return f"<table>{''.join(rows)}</table>"


def _lanes(block: Mapping[str, Any]) -> str:
    """A bar of each container's runs and waits; the table after it says the same in words."""
    until = max(block["untilMillis"], 1)
    lanes = []
    for lane in block["lanes"]:
        bars = "".join(
            f'<span title="{escape(bar.get("text", ""))}" style="position:absolute;top:0;bottom:0;left:{bar["fromMillis"] * 100 / until:.2f}%;'
            f'width:{max((bar["toMillis"] - bar["fromMillis"]) * 100 / until, 0.2):.2f}%;background:{_fill(bar)}"></span>'
            for bar in lane["bars"]
        )
        lanes.append(f'<div>{escape(lane["name"])}</div><div style="position:relative;height:12px;overflow:hidden">{bars}</div>')
    return "".join(lanes) + _paragraph(block.get("text", ""))


def _fill(bar: Mapping[str, Any]) -> str:
    """Waits are hatched, as the words under the lanes say."""
    colour = _COLOURS.get(bar["tone"], "#888")
    return f"repeating-linear-gradient(135deg,{colour} 0 3px,transparent 3px 6px)" if bar["kind"] == "wait" else colour


def _plot(block: Mapping[str, Any]) -> str:
    """The curve as bars of equal width; the table after it has the figures."""
    points = block["series"][0]["points"]
    highest = max([1, *(y for _, y in points)])
    bars = "".join(f'<rect x="{i}" y="{100 - y * 100 // highest}" width="0.9" height="{y * 100 // highest}"/>' for i, (_, y) in enumerate(points))
    colour = _COLOURS.get(block["series"][0]["tone"], "#888")
    return f'<svg viewBox="0 0 {max(len(points), 1)} 100" preserveAspectRatio="none" width="100%" height="120" fill="{colour}">{bars}</svg>'


_PAINTERS: Dict[str, Callable[[Mapping[str, Any]], str]] = {
    "list": _items,
    "fixes": _items,
    "steps": _items,
    "layers": _layers,
    "table": _table,
    "terminal": _terminal,
    "grid": _grid,
    "lanes": _lanes,
    "plot": _plot,
}
