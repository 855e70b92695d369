import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gatedTools, pausesByDefault, type ToolKind, type ToolTraits } from '#machines/approval.ts'

const kinds: readonly ToolKind[] = ['function', 'http', 'builtin']
const marks = [true, false]

/** Every set of up to three tools, of every kind, marked or not. */
const toolSets: readonly Readonly<Record<string, ToolTraits>>[] = (() => {
  const single = kinds.flatMap((kind) => marks.map((needs_approval): ToolTraits => ({ kind, needs_approval })))
  const one = single.map((a) => ({ a }))
  const two = one.flatMap((set) => single.map((b) => ({ ...set, b })))
  const three = two.flatMap((set) => single.map((c) => ({ ...set, c })))
  return [{}, ...one, ...two, ...three]
})()

const marked = (tools: Readonly<Record<string, ToolTraits>>): readonly string[] =>
  Object.keys(tools).filter((name) => tools[name]?.needs_approval)

describe('for every set of up to three tools', () => {
  it('all are gated if none is marked and calls pause', () => {
    for (const tools of toolSets.filter((set) => marked(set).length === 0)) {
      expect(gatedTools(true, tools)).toEqual(Object.keys(tools))
    }
  })

  it('only the marked ones are gated if any is marked and calls pause', () => {
    for (const tools of toolSets.filter((set) => marked(set).length > 0)) {
      expect(gatedTools(true, tools)).toEqual(marked(tools))
    }
  })

  it('none is gated if calls do not pause, marked or not', () => {
    for (const tools of toolSets) expect(gatedTools(false, tools)).toEqual([])
  })

  it('calls pause by default exactly if some tool is marked', () => {
    for (const tools of toolSets) expect(pausesByDefault(tools)).toBe(marked(tools).length > 0)
  })
})

it('does not depend on the kind of a tool', () => {
  const anyMarks = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 })
  const anyKinds = fc.array(fc.constantFrom(...kinds), { minLength: 6, maxLength: 6 })
  fc.assert(
    fc.property(anyMarks, anyKinds, anyKinds, fc.boolean(), (needs, left, right, pause) => {
      const tools = (of: readonly ToolKind[]) =>
        Object.fromEntries(needs.map((needs_approval, i) => [`t${i}`, { kind: of[i] ?? 'function', needs_approval }]))
      expect(gatedTools(pause, tools(left))).toEqual(gatedTools(pause, tools(right)))
    }),
  )
})
