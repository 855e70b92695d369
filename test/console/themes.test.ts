import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The blocks for the dark theme in all style sheets. */
const darkBlocks = readdirSync('console')
  .filter((name) => name.endsWith('.css'))
  .flatMap((name) => readFileSync(join('console', name), 'utf8').split('@media (prefers-color-scheme: dark)').slice(1))
  .map((text) => text.slice(0, text.search(/^\}/m)))

describe('the dark theme of the console', () => {
  // so that axe results of one theme hold in the other, except for colours (test/e2e/pages/console-pages)
  it('sets only colours', () => {
    expect(darkBlocks).toHaveLength(1)
    for (const block of darkBlocks) expect(block).toMatch(/^ \{\s*:root \{(?:\s*--[a-z-]+: #[0-9a-f]{6};)+\s*\}\s*$/)
  })

  it('is detected by style sheets only', () => {
    const scripts = readdirSync('console').filter((name) => name.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(20)
    for (const name of scripts) expect(readFileSync(join('console', name), 'utf8')).not.toMatch(/matchMedia/)
  })
})
