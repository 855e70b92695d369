import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pngOf } from '#src/parsing/documents/scans/png.ts'
import { scannedPdf } from '#test/support/files/scanned-pdf.ts'
import type { Api } from '../api.ts'
import { World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'

const image = (width: number, height: number) => ({
  ...{ width, height, bits: 8 as const, data: new Uint8Array(width * height).fill(250) },
})
const png = (width: number, height: number) => pngOf({ ...image(width, height), channels: 1 })

describe('a scan', () => {
  let world: World
  let dashboard: Api
  let path: string
  let base: KnowledgeBase
  const setModel = (vision_model: string | null) =>
    dashboard.post(path, { knowledge: { vision_model } }, { method: 'PATCH' })

  beforeAll(async () => {
    world = await World.start()
    dashboard = await world.dashboard()
    path = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}`
    base = await KnowledgeBase.create(world.api)
  })
  afterAll(() => world.stop())

  it('is read by no model unless the project names one, and says so', async () => {
    const failed = { status: 'failed', error: { message: expect.stringContaining('knowledge.vision_model') } }
    expect(await base.upload('a.png', png(90, 90))).toMatchObject({
      ...failed,
      error: { code: 'vision_model_required' },
    })
    expect(await base.upload('a.pdf', scannedPdf([image(100, 100)]))).toMatchObject({
      ...failed,
      error: { code: 'no_text' },
    })
  })

  it('is read page by page by the model that the project names, and each call is metered', async () => {
    expect((await setModel('simulated-1')).body).toMatchObject({ knowledge: { vision_model: 'simulated-1' } })
    const source = await base.upload('scan.pdf', scannedPdf([image(300, 400), null, image(500, 600)]))
    expect(await base.settled(source.id)).toMatchObject({ status: 'ready', page_count: 3 })
    // the simulated model describes the images that it was shown
    const [first] = (await base.search('PNG of 300 × 400 pixels')).body.data
    expect(first).toMatchObject({
      source_id: source.id,
      content: expect.stringContaining('300'),
      citation: { page: 1 },
    })
    const picture = await base.upload('b.png', png(120, 130))
    expect(await base.settled(picture.id)).toMatchObject({ status: 'ready', page_count: null })
    await expect
      .poll(async () => {
        const { body } = await world.api.get('/v1/request-log?limit=50')
        return body.data.filter(({ operation }: { operation: string }) => operation === 'vision.ocr').length
      })
      .toBe(3)
  })

  it('fails when the model cannot read it, or has too many pages', async () => {
    await setModel('no-such-model')
    const unread = await base.upload('c.png', png(90, 91))
    expect(await base.settled(unread.id)).toMatchObject({ status: 'failed', error: { code: 'vision_failed' } })
    await setModel('simulated-1')
    const long = await base.upload('long.pdf', scannedPdf(Array.from({ length: 51 }, () => image(70, 70))))
    expect(await base.settled(long.id)).toMatchObject({ status: 'failed', error: { code: 'too_many_pages' } })
    expect(await base.upload('d.png', Buffer.from('no image'))).toMatchObject({
      status: 'failed',
      error: { code: 'unreadable' },
    })
  })
})
