import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { phrases, toolVerb, toolVerbs, unnamedTool } from '#gateway/simulated/phrases.ts'
import { readFiles } from '#scripts/check/source-files.ts'

const page = readFileSync('docs/simulated-model.md', 'utf8')
const [, table = ''] = page.split('Certain phrases')
const documented = [...table.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replace(/ TEXT$/, ''))

describe('the page of the simulated model', () => {
  it('names every phrase that changes its behaviour, and none that does not', () => {
    expect(phrases.filter((phrase) => !documented.includes(phrase))).toEqual([])
    expect(documented.filter((text) => / please$/.test(text) && !phrases.includes(text))).toEqual([])
  })

  it('names exactly the verbs that request a tool without a name', () => {
    expect(toolVerb.source).toContain(`(?:${toolVerbs.join('|')})`)
  })

  it('takes the noun behind the first verb that has one, within five hundred characters', () => {
    expect(unnamedTool('Please use a tool')).toBe('tool')
    expect(unnamedTool('Use the tool, and then all Tools')).toBe('tools')
    expect(unnamedTool(`use ${'x '.repeat(400)} a tool, or call tools`)).toBe('tools')
    expect(unnamedTool('a tool to use')).toBeNull()
  })

  it('has all of them from one file', () => {
    const others = readFiles('.', ['src/gateway/simulated'], ['.ts']).filter(
      ({ path }) => !path.endsWith('/phrases.ts'),
    )
    expect(others.length).toBeGreaterThan(10)
    const own = others.flatMap(({ path, text }) => (/\/\\b[^/\n]+ (?:please|result)\b/.test(text) ? [path] : []))
    expect(own).toEqual([])
  })
})
