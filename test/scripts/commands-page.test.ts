import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { commands } from '#src/start/commands.js'
import packageJson from '../../package.json' with { type: 'json' }

/** Run by npm itself. */
const lifecycle = new Set(['install', 'postinstall', 'prepack', 'postpack'])
/** `prepare` would be: the script of that command has another name. */
const renamed = 'prepare-store'

describe('docs/commands.md', () => {
  const page = readFileSync('docs/commands.md', 'utf8')
  const [forOperators = '', forDevelopers = ''] = page.split('## For developers')
  const rowsOf = (text: string): readonly string[] =>
    [...text.matchAll(/^\| `([a-z:-]+)` \|/gm)].map(([, name = '']) => name)

  it('has every command of troupe, and what the table says of it', () => {
    expect(rowsOf(forOperators)).toEqual(Object.keys(commands))
    for (const [name, { does }] of Object.entries(commands))
      expect(forOperators).toMatch(new RegExp(`^\\| \`${name}\` \\| ${does.split(',')[0]}`, 'm'))
  })

  it('has every other script of package.json', () => {
    const others = Object.keys(packageJson.scripts).filter(
      (name) => !lifecycle.has(name) && name !== renamed && !Object.hasOwn(commands, name),
    )
    expect([...rowsOf(forDevelopers)].toSorted()).toEqual(others.toSorted())
  })
})
