import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Layout } from '../../../../console/chart-model.ts'
import { activeAt } from '../../../../console/steps-model.ts'
import { OpenConsole } from '../open-console.ts'

/** Whether the names of states have 11 px or more, and the active state is in the box. */
const measured = `(() => {
  const sizes = [...document.querySelectorAll('.chart .state text')].map(
    (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)
  const box = document.querySelector('.chart-box').getBoundingClientRect()
  const active = document.querySelector('.chart [data-standing=current] rect').getBoundingClientRect()
  const across = active.left >= box.left && active.right <= box.right
  return { legible: Math.min(...sizes) >= 11, inView: across && active.top >= box.top && active.bottom <= box.bottom }
})()`

/** The last innermost state of each machine, which is at the edge of its chart. */
const innermostStates = (): readonly (readonly [machine: string, state: string])[] =>
  readdirSync('console/charts').map((name) => {
    const layout: Layout = JSON.parse(readFileSync(`console/charts/${name}`, 'utf8'))
    return [layout.machine, layout.nodes.findLast(({ kind }) => kind === 'state' || kind === 'final')?.id ?? '']
  })

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('the charts of the console', () => {
  let console: OpenConsole

  beforeAll(async () => {
    console = await OpenConsole.start()
  })
  afterAll(() => console?.stop())

  it.each([
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ])(
    'have text of 11 px or more and their active state in view, for every machine on $width x $height px',
    async (viewport) => {
      const { page } = console
      await page.setViewportSize(viewport)
      for (const [machine, state] of innermostStates()) {
        await console.show('home', 'Home')
        await console.show('bundle', 'Open a bundle')
        const actor = { id: `saved_${machine}`, machine, active: activeAt(state) }
        const text = JSON.stringify({ bundle: 1, actor })
        await page
          .getByLabel('Choose a file')
          .setInputFiles({ name: 'saved.json', mimeType: 'application/json', buffer: Buffer.from(text) })
        await page.locator(`[data-state="${state}"][data-standing=current]`).waitFor()
        // the drawing for a phone replaces the other one when the size of the box is known
        await expect.poll(() => page.evaluate(measured), { message: machine }).toEqual({ legible: true, inView: true })
      }
      expect(console.complaints).toEqual([])
    },
  )

  it('say in the fleet how many actors are in each state, legibly on a phone', async () => {
    await console.page.setViewportSize({ width: 390, height: 844 })
    await console.world.api.post('/v1/sessions', {})
    await console.show('fleet', 'Fleet')
    await console.page.locator('.count').first().waitFor()
    const size = `(() => { const text = document.querySelector('.fleet-chart .state text')
      return parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a })()`
    expect(await console.page.evaluate<number>(size)).toBeGreaterThanOrEqual(11)
    for (const colorScheme of ['light', 'dark'] as const) {
      await console.page.emulateMedia({ colorScheme })
      const [text, behind] = await console.page.evaluate<[string, string]>(
        `['text', 'rect'].map((part) => getComputedStyle(document.querySelector('.count ' + part)).fill)`,
      )
      expect(text).not.toBe(behind)
    }
  })
})
