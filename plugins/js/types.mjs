// TypeScript's view of the JSON Schemas. build.mjs writes it into schema.d.ts.

/**
 * Declarations of all schemas: a type for each file, and one for each of its $defs. schemas: by the
 * name of the file.
 */
export function declarations(schemas) {
  const named = new Map(); // names of types by address
  const taken = new Set(['Error', 'Event', 'Entry', 'State', 'Run', 'Time', 'Kind', 'Line', 'Column', 'Length', 'Reason']); // too short to be alone
  for (const [file, schema] of Object.entries(schemas)) {
    const name = pascal(file) + (file === 'error' ? 'Answer' : '');
    if (schema.type) {
      named.set(`${file}.schema.json`, name);
      taken.add(name);
    }
  }
  for (const [file, {$defs = {}}] of Object.entries(schemas)) {
    for (const def of Object.keys($defs)) {
      const name = taken.has(pascal(def)) ? pascal(file) + pascal(def) : pascal(def);
      if (taken.has(name)) throw new Error(`two types are called ${name}`);
      taken.add(name);
      named.set(`${file}.schema.json#/$defs/${def}`, name);
    }
  }
  let text = '// Written by build.mjs from the JSON Schemas. A member that may be null may be left out as well.\n';
  for (const [address, name] of named) {
    const [file, def] = address.split('#/$defs/');
    const schema = def ? schemas[file.slice(0, -'.schema.json'.length)].$defs[def] : schemas[file.slice(0, -'.schema.json'.length)];
    text += `\n${comment(schema, '')}export type ${name} = ${type(schema, {file, named, open: file.startsWith('manifest')}, '')};\n`;
  }
  return text;
}

/**
 * Of some members one is required, as where {if: {required}, else: {required}} says so; if may have
 * several under anyOf. {} leaves out null and undefined.
 */
function either(schema) {
  const names = [...(schema.if?.anyOf ?? [schema.if]).map((one) => one?.required), schema.else?.required];
  return names.every(Boolean) ? ` & (${names.map((one) => `{${one.map((name) => `readonly ${name}: {}`).join('; ')}}`).join(' | ')})` : '';
}

function type(schema, in_, indent) {
  if (schema === true) return 'unknown';
  if (schema.$ref) {
    const [address, ...members] = (schema.$ref.startsWith('#') ? in_.file + schema.$ref : schema.$ref).split('/properties/');
    const name = in_.named.get(address.replace(/#$/, ''));
    if (name && members.length > 0) return members.reduce((outer, member) => `NonNullable<${outer}>['${member}']`, name);
    if (!name) throw new Error(`${in_.file} refers to ${schema.$ref}, which is not there`);
    return name;
  }
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf && !schema.properties) return schema.anyOf.map((one) => Object.keys(one).some((key) => key !== '$comment') ? type(one, in_, indent) : [].concat(schema.type ?? 'unknown').join(' | ')).join(' | ');
  if (schema.type === undefined) return schema.properties ? object(schema, in_, indent) : 'unknown';
  return [].concat(schema.type).map((one) => {
    switch (one) {
      case 'integer': case 'number': return 'number';
      case 'array': return `readonly ${wrapped(schema.items ? type(schema.items, in_, indent) : 'unknown')}[]`;
      case 'object': return object(schema, in_, indent);
      default: return one;
    }
  }).join(' | ');
}

function object(schema, in_, indent) {
  const inner = indent + '  ';
  let text = '{\n';
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const optional = schema.required?.includes(name) ? '' : '?';
    text += `${comment(member, inner)}${inner}${/^\w+$/.test(name) ? name : JSON.stringify(name)}${optional}: ${type(member, in_, inner)};\n`;
  }
  const others = schema.additionalProperties ?? (in_.open || !schema.properties);
  if (others) text += `${inner}[name: string]: ${others === true ? 'unknown' : type(others, in_, inner) + (schema.properties ? ' | undefined' : '')};\n`;
  return `${text}${indent}}${either(schema)}`;
}

function comment({description, default: value}, indent) {
  if (!description) return '';
  const words = value === undefined ? description : `${description} Default: ${JSON.stringify(value)}.`;
  return `${indent}/** ${words.replaceAll('*/', '* /')} */\n`;
}

const wrapped = (text) => (text.includes('|') || text.startsWith('readonly') ? `(${text})` : text);
const pascal = (text) => text.replace(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase());
