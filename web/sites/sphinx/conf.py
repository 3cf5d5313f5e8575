project = "Example docs"
extensions = ["myst_parser"]
html_theme = "alabaster"
html_static_path = ["_static"]
html_js_files = [("podfate/embed.js", {"type": "module"})]
