import { describe, expect, it } from 'vitest'
import { FairLine } from '#src/parsing/fair-line.ts'

const ownerOf = (name: string) => {
  const [project = '', tenant = null] = name.split('/')
  return { project, tenant }
}

const lineOf = (...names: readonly string[]): FairLine<string> => {
  const line = new FairLine<string>()
  for (const name of names) line.add(ownerOf(name), name)
  return line
}

const all = (line: FairLine<string>): readonly (string | undefined)[] =>
  Array.from({ length: line.size }, () => line.take())

describe('a fair line', () => {
  it('serves projects in turn, however many items each has waiting', () => {
    expect(all(lineOf('a', 'a', 'a', 'b', 'c', 'c'))).toEqual(['a', 'b', 'c', 'a', 'c', 'a'])
  })

  it('serves the tenants of a project in turn, and counts them as one project', () => {
    expect(all(lineOf('a/1', 'a/1', 'a/2', 'a/3', 'b', 'b'))).toEqual(['a/1', 'b', 'a/2', 'b', 'a/3', 'a/1'])
  })

  it('serves no owner twice in a row while another one waits', () => {
    const line = lineOf('a')
    expect(line.take()).toBe('a')
    for (const name of ['a', 'b', 'a/1']) line.add(ownerOf(name), name)
    expect(all(line)).toEqual(['b', 'a/1', 'a'])
    line.add(ownerOf('a/1'), 'a/1')
    line.add(ownerOf('a/2'), 'a/2')
    line.add(ownerOf('b'), 'b')
    expect(all(line)).toEqual(['b', 'a/1', 'a/2'])
  })

  it('skips owners that may not be served, and items that were removed', () => {
    const line = lineOf('a', 'b', 'c')
    line.remove(ownerOf('c'), 'c')
    expect(line.take(({ project }) => project !== 'a')).toBe('b')
    expect([line.size, line.sizeOf(ownerOf('a')), line.sizeOf(ownerOf('c'))]).toEqual([1, 1, 0])
    expect(line.take(() => false)).toBeUndefined()
    expect(all(line)).toEqual(['a'])
  })
})
