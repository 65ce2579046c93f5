/**
 * Makes the types of the example client (examples/client/api.ts) from the published description of the API:
 * `node build/client-types.mjs`. A test holds that they are fresh.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

/** The text of a TypeScript type for a JSON schema. */
function typeOf(schema = {}) {
  const {
    $ref,
    type,
    enum: values,
    const: value,
    anyOf,
    oneOf,
    allOf,
    properties,
    items,
    additionalProperties,
  } = schema;
  if ($ref) return $ref.split('/').at(-1);
  if (values) return values.map((one) => JSON.stringify(one)).join(' | ');
  if (value !== undefined) return JSON.stringify(value);
  if (anyOf ?? oneOf) return (anyOf ?? oneOf).map(typeOf).join(' | ');
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' | ');
  const own =
    type === 'object' || (properties && type === undefined)
      ? objectOf(schema, properties, additionalProperties)
      : undefined;
  if (allOf) return [...allOf.map(typeOf), ...(own ? [own] : [])].map((one) => `(${one})`).join(' & ');
  if (own) return own;
  if (type === 'array') return `(${typeOf(items)})[]`;
  if (type === 'integer' || type === 'number') return 'number';
  return ['string', 'boolean', 'null'].includes(type) ? type : 'unknown';
}

function objectOf({ required = [] }, properties, additional) {
  const members = Object.entries(properties ?? {}).map(([name, one]) => {
    const told = one.description ? `/** ${one.description.replaceAll('*/', '* /')} */ ` : '';
    return `${told}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(one)};`;
  });
  if (members.length === 0) return additional ? `Record<string, ${typeOf(additional)}>` : 'Record<string, never>';
  return `{ ${members.join(' ')} }`;
}

/** The first content of a request or an answer, by its type. */
const contentOf = (content) => {
  const [[name, { schema }] = ['', {}]] = Object.entries(content ?? {});
  if (name === '') return 'undefined';
  return name.includes('json') ? typeOf(schema) : 'Response';
};

export function clientTypes({ paths, components }) {
  const schemas = Object.entries(components.schemas).map(([name, one]) => `export type ${name} = ${typeOf(one)};`);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary = '', parameters = [], requestBody, responses }]) => {
      const [, good] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
      const query = parameters.filter(({ in: place }) => place === 'query');
      const asked = query.map(({ name, schema }) => `${JSON.stringify(name)}?: ${typeOf(schema)};`).join(' ');
      const body = requestBody && Object.keys(requestBody.content).every((one) => one.includes('json'));
      const sent = requestBody ? (body ? contentOf(requestBody.content) : 'string | Uint8Array') : 'undefined';
      return `  /** ${summary} */\n  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: { query: { ${asked} }; body: ${sent}; answer: ${contentOf(good?.content)} };`;
    }),
  );
  const head = '// Made from schemas/openapi.json by `node build/client-types.mjs`: not to be edited.';
  return `${head}\n\n${schemas.join('\n\n')}\n\nexport interface Operations {\n${operations.join('\n')}\n}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const description = JSON.parse(await readFile('schemas/openapi.json', 'utf8'));
  await writeFile('examples/client/api.ts', clientTypes(description));
}
