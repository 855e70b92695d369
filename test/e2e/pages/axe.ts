import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * The rules of axe that look at colours: all that the dark theme can break, since it sets colours and nothing else
 * (test/console/themes.test.ts).
 */
const colourRules = ['color-contrast', 'link-in-text-block']

/**
 * What axe finds wrong with the page as it stands, in both themes: with all of its rules in the light one, with those that look at
 * colours in the dark one. The page is left in the light one. What has no fault is not described, which takes most of the time.
 */
export const axeFaults = async (page: Page): Promise<readonly string[]> => {
  const found: string[] = []
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source)
  for (const colorScheme of ['light', 'dark'] as const) {
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
