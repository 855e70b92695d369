import { describe, expect, it } from 'vitest'
import { writePairFindings } from '#scripts/check/kills/write-pairs.ts'

const path = 'src/actors/shops/shop.ts'
const head = `import { Table } from '../records/table.ts'
class Shop {
  readonly #orders: Table<Order>
  readonly #stock: Table<Stock>
`
/** Names of the functions that are found in the body of a class, with declared entries. */
const foundIn = (body: string, harmless: Readonly<Record<string, string>> = {}, more = ''): readonly string[] =>
  writePairFindings([{ path, text: `${head}${body}\n}\n${more}` }], harmless).map(
    ({ message }) => message.split(' ')[0] ?? '',
  )

describe('two writes in sequence', () => {
  it.each([
    ['of two tables', 'async sell(id) { await this.#orders.insert(id); await this.#stock.change(id) }'],
    ['of one table', 'async move(a, b) { await this.#stock.change(a); await this.#stock.change(b) }'],
    [
      'of which one is in a branch',
      'async sell(id) { await this.#orders.insert(id); if (id) await this.#stock.change(id) }',
    ],
    ['at once', 'async both(id) { await Promise.all([this.#orders.insert(id), this.#stock.change(id)]) }'],
    [
      'of which one is in a method that is called',
      'async sell(id) { await this.#orders.insert(id); await this.take(id) }\n async take(id) { await this.#stock.change(id) }',
    ],
    [
      'of which one is in a function that is called',
      'async sell(id) { await this.#orders.insert(id); await take(this.#stock) }',
      'const take = async (table: Table<Stock>) => { await table.change(1) }',
    ],
    [
      'of which one is in a callback',
      'async sell(id) { await this.#orders.insert(id); await each(async () => { await this.#stock.change(id) }) }',
    ],
  ])('are found: %s', (_, body, more = '') => {
    expect(foundIn(body, {}, more)).toHaveLength(1)
  })

  it('are found through a name that a type picks from another file', () => {
    const services = { path: 'src/actors/shops/services.ts', text: 'export interface Services { readonly host: Host }' }
    const picking = `import type { Services } from './services.ts'
export interface Parts extends Pick<Services, 'host' | 'now'> {}`
    const sell = `import type { Parts } from './parts.ts'
export const sell = async ({ host }: Parts) => { await host.create(1); await host.deliver(2) }`
    const files = [services, { path: 'src/actors/shops/parts.ts', text: picking }, { path, text: sell }]
    expect(writePairFindings(files, {}).map(({ path: of, line }) => [of, line])).toEqual([[path, 2]])
  })

  it.each([
    ['one write', 'async sell(id) { await this.#orders.insert(id) }'],
    [
      'writes in two branches',
      'async put(id) { if (id) await this.#orders.insert(id); else await this.#stock.change(id) }',
    ],
    [
      'a write after a refused one',
      'async put(id) { if ((await this.#orders.insert(id)) !== null) return\n await this.#orders.change(id) }',
    ],
    [
      'a write instead of a refused one',
      'async put(id) { const made = await this.#orders.insert(id)\n const row = made ?? (await this.#orders.change(id)) }',
    ],
    [
      'a write after one that returned',
      'async put(id) { if (id) { return this.#orders.insert(id) }\n await this.#stock.change(id) }',
    ],
    ['a replaced text', 'async put(text) { text.replace(1); text.replace(2); await this.#orders.insert(text) }'],
  ])('are not: %s', (_, body) => {
    expect(foundIn(body)).toEqual([])
  })

  it('are accepted when they are declared, and a declaration without a pair is found', () => {
    const body = 'async sell(id) { await this.#orders.insert(id); await this.#stock.change(id) }'
    expect(foundIn(body, { [`${path} sell`]: 'a sweep takes it from the stock' })).toEqual([])
    expect(foundIn('', { [`${path} sell`]: 'a sweep takes it from the stock' })).toEqual([path])
  })
})
