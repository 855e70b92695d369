import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readFiles } from '#scripts/check/source-files.ts'
import { providers } from '#specs/data/providers.ts'
import { configuredNames } from './support/configured-names.ts'

const page = readFileSync('docs/operating.md', 'utf8')
const documented = new Set([...page.matchAll(/`([A-Z<][A-Z0-9_<>]+)`/g)].map(([, name]) => name))

/** Maps a variable to its name on the page: the generic name for a provider, the name of the secret for its file. */
const generic = (name: string): string => {
  const bare = name.replace(/_FILE$/, '')
  const provider = providers.find(
    ({ env }) => /^_(API_KEY|BASE_URL|PRICES|LIMITS)$/.test(bare.slice(env.length)) && bare.startsWith(env),
  )
  return provider === undefined ? bare : `<PROVIDER>${bare.slice(provider.env.length)}`
}

describe('the page for operators', () => {
  it('documents every variable that the configuration reads', () => {
    const names = configuredNames()
    expect(names.length).toBeGreaterThan(60)
    expect([...new Set(names.map(generic))].filter((name) => !documented.has(name))).toEqual([])
  })

  it('documents every other variable that the server or an operator tool reads', () => {
    const files = readFiles('.', ['src', 'scripts/backup', 'scripts/doctor', 'scripts/cluster'], ['.ts', '.js'])
    const read = files.flatMap(({ text }) =>
      [...text.matchAll(/process\.env\.([A-Z_]+)/g)].map(([, name = '']) => name),
    )
    expect([...new Set(read)].filter((name) => !documented.has(generic(name)))).toEqual([])
  })

  it('documents the _FILE variable of every secret', () => {
    const files = configuredNames().filter(
      (name) => name.endsWith('_FILE') && !providers.some(({ env }) => name.startsWith(`${env}_`)),
    )
    expect(files.length).toBeGreaterThan(4)
    expect(files.filter((name) => !documented.has(name))).toEqual([])
  })
})
