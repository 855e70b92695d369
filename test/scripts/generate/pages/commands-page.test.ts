import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { commandsPage } from '#scripts/generate/pages/commands-page.ts'

describe('the page of commands', () => {
  it('has every command of package.json', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const byNpm = /^(?:(?:pre|post)?install|(?:pre|post)pack)$/
    const { text } = commandsPage()
    // one that npm would run by itself has another name there
    const isNamed = (name: string) => text.includes(`| \`${name}\` |`) || text.includes(`\`npm run ${name}\``)
    expect(Object.keys(scripts).filter((name) => !byNpm.test(name) && !isNamed(name))).toEqual([])
  })
})
