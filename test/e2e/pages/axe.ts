import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright'
import { atNight } from '#test/setup/at-night.ts'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * The axe rules about colours: the only ones that the dark theme can break, since it sets nothing but colours
 * (test/console/themes.test.ts).
 */
const colourRules = ['color-contrast', 'link-in-text-block']

/** Widest screen of a phone, in pixels, whose colours are those of a desktop: its dark theme is left to the night. */
const phone = 600

const themesAt = (width: number): readonly ('light' | 'dark')[] =>
  width < phone && !atNight ? ['light'] : ['light', 'dark']

/**
 * Violations found by axe in the current page: with all rules in the light theme, with the colour rules in the dark one. The
 * page is left in the light theme. Only violations are reported in detail, since details take most of the time.
 */
export const axeFaults = async (page: Page): Promise<readonly string[]> => {
  const found: string[] = []
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source)
  for (const colorScheme of themesAt(page.viewportSize()?.width ?? phone)) {
    await page.emulateMedia({ colorScheme })
    const options = { resultTypes: ['violations'], ...(colorScheme === 'dark' && { runOnly: colourRules }) }
    const faults: readonly string[] = await page.evaluate(
      `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
    )
    found.push(...faults.map((each) => `${colorScheme} ${each}`))
  }
  await page.emulateMedia({ colorScheme: 'light' })
  return found
}
