import type { Page } from 'playwright'
import { consoleSize, type Scene, sceneScript, stageHtml, width } from './stage.ts'
import type { Shot } from './webp.ts'

/** Records the console's page and what happens around it. */
export interface Recorder {
  phase(index: number): void
  server(...lines: readonly string[]): void
  client(line: string): void
  dead(isDead: boolean): void
  click(at: { readonly x: number; readonly y: number }): void
  /** Ends the record. @param page a blank page on which the pictures are composed */
  stop(page: Page): Promise<readonly Shot[]>
}

const clip = { ...consoleSize, x: consoleSize.left, y: consoleSize.top }
const clickMs = 700
/** How long the last picture is shown, and any other at most. */
const lastMs = 4000
const maxMs = 1500

interface Moment {
  readonly at: number
  readonly scene: Scene
  readonly png: Buffer
}

/** Starts to take pictures of the page, as fast as it goes. */
export const startRecorder = (page: Page): Recorder => {
  let scene: Scene = { phase: 0, server: [], client: [], dead: false, click: null }
  let open = true
  let clickedAt = 0
  const moments: Moment[] = []
  const taking = (async () => {
    while (open) {
      const png = await page.screenshot({ clip })
      const at = performance.now()
      moments.push({ at, png, scene: at - clickedAt > clickMs ? { ...scene, click: null } : scene })
    }
  })()
  const set = (change: Partial<Scene>): void => {
    scene = { ...scene, ...change }
  }
  // a failure of the run closes the page, and is what has to be shown
  taking.catch(() => {})
  return {
    phase: (phase) => set({ phase }),
    server: (...lines) => set({ server: [...scene.server, ...lines] }),
    client: (line) => set({ client: [...scene.client, line] }),
    dead: (dead) => set({ dead }),
    click: ({ x, y }) => {
      clickedAt = performance.now()
      set({ click: { x: x - clip.x, y: y - clip.y } })
    },
    stop: async (stage) => {
      open = false
      await taking
      return composed(stage, moments)
    },
  }
}

const composed = async (page: Page, moments: readonly Moment[]): Promise<readonly Shot[]> => {
  await page.setViewportSize({ width, height: 10 })
  await page.setContent(stageHtml)
  const shots: Shot[] = []
  for (const [index, { at, scene, png }] of moments.entries()) {
    await page.evaluate(sceneScript(scene, png))
    const next = moments[index + 1]
    shots.push({ png: await page.locator('body').screenshot(), ms: next ? Math.min(maxMs, next.at - at) : lastMs })
  }
  return shots
}
