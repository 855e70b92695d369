import { describe, expect, it } from 'vitest'
import type { PageKind } from '#src/pages/content-type.ts'
import { numberIn, scalarFor } from '#src/parsing/pages/data/coerce.ts'
import { readPage } from '#src/parsing/pages/read-page.ts'
import type { JsonObject } from '#storage/ports.ts'

const read = async (html: string, schema: JsonObject, kind: PageKind = 'html') => {
  const type = { kind, mimeType: 'text/html', charset: 'utf-8' }
  const { data, content } = await readPage({
    ...{ bytes: Buffer.from(html), type, url: 'https://shop.example/', format: 'text', schema },
  })
  if (data === null) throw new Error('no data')
  return { ...('fault' in data ? { ...data, value: {}, evidence: [], errors: [] } : { fault: null, ...data }), content }
}
const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  ...{ type: 'object', properties, required },
})
const text = { type: 'string' }

const product = `<title>Lamp</title><meta property="og:site_name" content="Shop">
<script type="application/ld+json">{"@type":"Product","name":"Desk lamp","brand":{"name":"Lumo"},
"offers":{"price":"1,299.50","priceCurrency":"EUR","availability":"https://schema.org/InStock"},"aggregateRating":{"ratingValue":4.5}}</script>
<main><h1>Desk lamp</h1><p>Weight: 2.5 kg</p><p>A lamp for desks, with an arm that can be moved wherever light is needed in the evening.</p>
<table><tr><th>Colour</th><td>Red</td></tr><tr><th>Height</th><td>42 cm</td></tr></table>
<dl><dt>Warranty</dt><dd>3 years</dd></dl></main>`

describe('the data of a page for a schema', () => {
  it('is read from structured data, tables, terms and labelled lines, with evidence for each value', async () => {
    const { value, evidence, errors, content } = await read(
      product,
      object({
        ...{ name: text, brand: text, price: { type: 'number' }, currency: text, rating: { type: 'number' } },
        ...{ availability: { enum: ['in_stock', 'sold_out'] }, colour: text, height: { type: 'integer' } },
        ...{ warranty: text, weight: { type: 'number' }, site: text },
      }),
    )
    expect(value).toEqual({
      ...{ name: 'Desk lamp', brand: 'Lumo', price: 1299.5, currency: 'EUR', rating: 4.5, availability: 'in_stock' },
      ...{ colour: 'Red', height: 42, warranty: '3 years', weight: 2.5, site: 'Shop' },
    })
    expect(errors).toEqual([])
    expect(evidence.map(({ path }) => path).toSorted()).toEqual(
      Object.keys(value)
        .map((name) => `/${name}`)
        .toSorted(),
    )
    for (const { start, end, text: said } of evidence)
      if (start !== null && end !== null) expect(content.slice(start, end)).toBe(said)
    expect(evidence.find(({ path }) => path === '/colour')).toMatchObject({ source: 'table', text: 'Red' })
    expect(evidence.find(({ path }) => path === '/price')).toMatchObject({ source: 'json_ld', start: null, end: null })
  })

  it('includes nested objects and lists of texts', async () => {
    const page = `<script type="application/ld+json">{"headline":"Tides","author":{"@type":"Person","name":"Ann","url":"https://a.example/"},
      "keywords":"sea, moon"}</script><p>Words of the page about tides and the moon, which pulls them.</p>`
    const { value, evidence } = await read(
      page,
      object({ title: text, author: object({ name: text, url: text }), tags: { type: 'array', items: text } }),
    )
    expect(value).toEqual({ title: 'Tides', author: { name: 'Ann', url: 'https://a.example/' }, tags: ['sea', 'moon'] })
    expect(evidence.map(({ path }) => path)).toEqual(expect.arrayContaining(['/author/name', '/tags/1']))
  })

  it('includes the rows of the matching table', async () => {
    const page = `<table><tr><th>Port</th><th>Ships</th></tr><tr><td>Bergen</td><td>1 200</td></tr><tr><td>Oslo</td><td>80</td></tr><tr><td></td><td>3</td></tr></table>`
    const items = object({ port: text, ships: { type: 'integer' } }, ['port'])
    const { value, evidence } = await read(page, object({ ports: { type: 'array', items } }))
    expect(value).toEqual({
      ports: [
        { port: 'Bergen', ships: 1_200 },
        { port: 'Oslo', ships: 80 },
      ],
    })
    expect(evidence).toContainEqual(expect.objectContaining({ path: '/ports/1/port', text: 'Oslo', source: 'table' }))
  })

  it('omits missing and invalid values, and reports them as errors', async () => {
    const schema = object({ name: text, sku: text, price: { type: 'number', maximum: 10 } }, ['name', 'sku'])
    const { value, evidence, errors } = await read(product, schema)
    expect(value).toEqual({ name: 'Desk lamp' })
    expect(evidence.map(({ path }) => path)).toEqual(['/name'])
    expect(errors.map(({ path }) => path).toSorted()).toEqual(['/price', '/sku'])
  })

  it('keeps the evidence of the list items that remain', async () => {
    const page = `<meta name="keywords" content="a, toolong, b, c"><p>x</p>`
    const items = { type: 'string', maxLength: 3 }
    const { value, evidence } = await read(page, object({ keywords: { type: 'array', items } }))
    expect(value).toEqual({ keywords: ['a', 'b', 'c'] })
    expect(evidence.map(({ path, text: said }) => [path, said])).toEqual([
      ['/keywords/0', 'a'],
      ['/keywords/1', 'b'],
      ['/keywords/2', 'c'],
    ])
  })

  it.each<readonly [string, JsonObject]>([
    ['an invalid type', { type: 'objekt' }],
    ['an invalid pattern', object({ a: { type: 'string', pattern: '(' } })],
    ['a reference to another document', object({ a: { $ref: 'https://other.example/schema' } })],
  ])('is refused for a schema with %s', async (_what, schema) => {
    expect((await read('<p>a: b</p>', schema)).fault).toEqual(expect.any(String))
  })

  it('is empty if the page contains none, also for names of built-in properties', async () => {
    const schema = object({ constructor: text, __proto__x: text, toString: text, price: { type: 'number' } })
    const { value, evidence } = await read('<p>Hello there, this page says nothing of it.</p>', schema)
    expect([value, evidence]).toEqual([{}, []])
  })

  it('is read from JSON too', async () => {
    const { value } = await read(
      '{"port": {"name": "Bergen", "ships": 12}}',
      object({ ships: { type: 'integer' } }),
      'json',
    )
    expect(value).toEqual({ ships: 12 })
  })
})

describe('a value', () => {
  it.each([
    ['1,299.00', 1299],
    ['1.299,00 €', 1299],
    ['€ 12,50', 12.5],
    ['12,500', 12500],
    ['1.234.567', 1234567],
    ["CHF 1'200.50", 1200.5],
    ['−4 °C', -4],
    ['4.5 of 5', 4.5],
    ['none', undefined],
  ])('written as %s is the number %s', (written, value) => {
    expect(numberIn(written)).toBe(value)
  })

  it.each<readonly [JsonObject, string, unknown]>([
    [{ type: 'boolean' }, 'In stock', true],
    [{ type: 'boolean' }, 'https://schema.org/OutOfStock', false],
    [{ type: 'boolean' }, 'perhaps', undefined],
    [{ type: 'string', format: 'date' }, '5 March 2026', '2026-03-05'],
    [{ type: 'string', format: 'date' }, '2026-03-05T23:30:00+02:00', '2026-03-05'],
    [{ type: 'string', format: 'date-time' }, '2026-03-05', '2026-03-05T00:00:00.000Z'],
    [{ type: 'string', format: 'date' }, 'yesterday', undefined],
    [{ type: 'integer' }, '4.5', undefined],
    [{ type: ['integer', 'string'] }, 'many', 'many'],
    [{ enum: ['New', 'Used'] }, 'https://schema.org/used', 'Used'],
    [{ enum: ['New'] }, 'old', undefined],
  ])('of %j written as %s is %s', (schema, written, value) => {
    expect(scalarFor(schema, written)).toBe(value)
  })
})
