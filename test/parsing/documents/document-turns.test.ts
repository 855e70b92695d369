import { describe, expect, it } from 'vitest'
import { documentTurns } from '#src/parsing/documents/document-parser.ts'

const owner = (project: string, tenant: string | null = null) => ({ project, tenant })

/** Work that lasts until it is ended, and what has started. */
const openTurns = () => {
  const turns = documentTurns([4, 2, 1])
  const started: string[] = []
  const begin = (name: string, who: ReturnType<typeof owner>, signal = new AbortController().signal) => {
    const over = Promise.withResolvers<void>()
    const read = async () => {
      started.push(name)
      await over.promise
    }
    const run = turns.run(who, read, signal)
    const end = (): Promise<void> => {
      over.resolve()
      return run
    }
    return { run, end }
  }
  return { begin, started }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('turns of documents', () => {
  it('are limited for each tenant and project, so that another project starts at once', async () => {
    const { begin, started } = openTurns()
    const first = begin('a1', owner('a', 't1'))
    begin('a2', owner('a', 't2'))
    begin('a3', owner('a', 't3'))
    begin('a1 again', owner('a', 't1'))
    begin('b', owner('b'))
    await settled()
    expect(started).toEqual(['a1', 'a2', 'b'])
    await first.end()
    await settled()
    expect(started).toEqual(['a1', 'a2', 'b', 'a3'])
  })

  it('are left by aborted work that waits, and passed on by work that fails', async () => {
    const { begin, started } = openTurns()
    const first = begin('first', owner('a'))
    const abort = new AbortController()
    const left = begin('left', owner('a'), abort.signal)
    begin('last', owner('a'))
    abort.abort(new Error('deleted'))
    await expect(left.run).rejects.toThrow('deleted')
    await first.end()
    await settled()
    expect(started).toEqual(['first', 'last'])
    const turns = documentTurns([1, 1, 1])
    await expect(turns.run(owner('a'), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await turns.run(owner('a'), async () => 'read')).toBe('read')
  })
})
