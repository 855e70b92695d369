import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** What stands in each block for dark screens of all style sheets. */
const darkBlocks = readdirSync('console')
  .filter((name) => name.endsWith('.css'))
  .flatMap((name) => readFileSync(join('console', name), 'utf8').split('@media (prefers-color-scheme: dark)').slice(1))
  .map((text) => text.slice(0, text.search(/^\}/m)))

describe('the dark theme of the console', () => {
  // so that what axe finds of a page in one theme holds in the other, colours aside (test/e2e/pages/console-pages)
  it('sets colours and nothing else', () => {
    expect(darkBlocks).toHaveLength(1)
    for (const block of darkBlocks) expect(block).toMatch(/^ \{\s*:root \{(?:\s*--[a-z-]+: #[0-9a-f]{6};)+\s*\}\s*$/)
  })

  it('is looked for by style sheets alone', () => {
    const scripts = readdirSync('console').filter((name) => name.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(20)
    for (const name of scripts) expect(readFileSync(join('console', name), 'utf8')).not.toMatch(/matchMedia/)
  })
})
