import { describe, expect, it } from 'vitest'
import { csvOf, maxRows } from '../../../console/parts/csv.ts'

type Rows = readonly Record<string, unknown>[]

/** Pages of a list, and the text of its file. */
const fileOf = async (...pages: readonly Rows[]) => {
  const cursors: (string | undefined)[] = []
  const parts: string[] = []
  const read = async (cursor: string | undefined) => {
    cursors.push(cursor)
    const at = Number(cursor ?? 0)
    return { data: pages[at] ?? [], next_cursor: at + 1 < pages.length ? String(at + 1) : null }
  }
  for await (const { text } of csvOf(read, (id) => (id === 'ten_1' ? 'Acme' : id))) parts.push(text)
  return { cursors, parts, lines: parts.join('').split('\r\n') }
}

describe('a list as CSV', () => {
  it('has the rows of all pages, written page by page', async () => {
    const { cursors, parts, lines } = await fileOf([{ id: 'a', cost: 1.5 }], [{ id: 'b', cost: null }])
    expect(lines).toEqual(['id,cost', 'a,1.5', 'b,', ''])
    expect(cursors).toEqual([undefined, '1'])
    expect(parts.length).toBe(3)
  })

  it('quotes commas, quotation marks and line breaks as RFC 4180 requires', async () => {
    const { parts } = await fileOf([{ text: 'a,b', said: 'he said "no"', long: 'one\r\ntwo' }])
    expect(parts[1]).toBe('"a,b","he said ""no""","one\r\ntwo"\r\n')
  })

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '\n=1', '\u200b=1', '＝1', '＠SUM(A1)'])(
    'neutralises the formula %j',
    async (text) => {
      const { parts } = await fileOf([{ text, number: -1 }])
      expect(parts[1]?.replaceAll('"', '')).toBe(`'${text},-1\r\n`)
    },
  )

  it('keeps what splits cells or ends files for some spreadsheets within its cell', async () => {
    const { parts } = await fileOf([{ text: 'a;=1', other: 'a\0b\0', hidden: '\0=1' }])
    expect(parts[1]).toBe(`"a;=1",a\ufffdb\ufffd,'\ufffd=1\r\n`)
  })

  it('has nested fields in columns of their own, names beside ids', async () => {
    const { lines } = await fileOf([{ actor: { kind: 'key', id: 'k' }, changes: ['a', 'b'], more: [{ a: 1 }] }])
    expect(lines.slice(0, 2)).toEqual(['actor.kind,actor.id,changes,more', 'key,k,"a; b","[{""a"":1}]"'])
  })

  it('names tenants, agents and keys beside their ids', async () => {
    const { lines } = await fileOf([{ tenant_id: 'ten_1', agent_id: null }])
    expect(lines.slice(0, 2)).toEqual(['tenant_id,tenant_name,agent_id,agent_name', 'ten_1,Acme,,'])
  })

  it('ends at its bound, and reads no further page', async () => {
    const page = Array.from({ length: maxRows / 2 + 1 }, (_, id) => ({ id }))
    const { cursors, lines } = await fileOf(page, page, page)
    expect(cursors.length).toBe(2)
    expect(lines.length).toBe(1 + maxRows + 1)
  })

  it('of no rows is empty but for its first line', async () => {
    expect((await fileOf([])).lines).toEqual(['', ''])
  })
})
