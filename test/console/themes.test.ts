import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const files = readdirSync('console', { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('vendor'))
const textOf = (name: string) => readFileSync(join('console', name), 'utf8')

describe('the dark theme of the console', () => {
  // so that axe results of one theme hold in the other, except for colours (test/e2e/pages/console-pages)
  it('sets only colours', () => {
    const styles = files.filter((name) => name.endsWith('.css')).map(textOf)
    expect(styles.length).toBeGreaterThan(5)
    expect(styles.join('\n')).not.toMatch(/prefers-color-scheme/)
    const themed = styles.flatMap((text) => [...text.matchAll(/^.*light-dark\(.*$/gm)].map(([line]) => line))
    expect(themed.length).toBeGreaterThan(10)
    for (const line of themed) expect(line).toMatch(/^ {2}--[a-z-]+: light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\);$/)
  })

  it('is detected by style sheets only', () => {
    const scripts = files.filter((name) => name.endsWith('.ts') && !name.includes('/'))
    expect(scripts.length).toBeGreaterThan(20)
    for (const name of scripts) expect(textOf(name)).not.toMatch(/matchMedia/)
  })
})
