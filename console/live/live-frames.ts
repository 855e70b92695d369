import { ApiError, headOf, pathOf } from '../api.ts'
import { blobFrom, draw } from '../parts/pictures.ts'
import type { Frame } from '../playground/conversation.ts'
import { streamFrames } from '../playground/server-events.ts'

export type LiveFrame = Readonly<{ image: string; width: number; height: number; url: string }>

type Watch = Readonly<{ project: string; id: string; show: (frame: LiveFrame) => void; signal: AbortSignal }>

/** Delay in ms before a broken stream is opened again. */
const againMs = 1_000

/**
 * Shows the page of a job until the job continues, reopening broken streams.
 *
 * @throws {ApiError} when the server refuses
 */
export const watchJob = async (watch: Watch) => {
  while (!watch.signal.aborted) {
    if (await streamed(watch)) return
    await new Promise((resolve) => setTimeout(resolve, againMs))
  }
}

/** @returns whether the job's live view has ended */
const streamed = async ({ project, id, show, signal }: Watch): Promise<boolean> => {
  const head = headOf(project, 'browser_jobs.live', undefined)
  const path = pathOf(project, 'browser_jobs.live', { params: { jobId: id } })
  let isOver = false
  const take = ({ event, data }: Frame) => {
    isOver = event === 'ended'
    if (event === 'frame') show(frameOf(data))
    return isOver
  }
  try {
    await streamFrames({ path, head, take, signal })
  } catch (error) {
    if (error instanceof ApiError) throw error
    // the stream broke: it is opened again, unless the user has left
  }
  return isOver || signal.aborted
}

const frameOf = ({ image, width, height, url }: Frame['data']): LiveFrame => ({
  ...{ image: String(image), width: Number(width), height: Number(height), url: String(url) },
})

/** Draws incoming pictures; of those that arrive while one is being decoded, only the last is drawn. */
export const drawing = (canvasNow: () => HTMLCanvasElement | null): ((image: string) => void) => {
  let isDrawing = false
  let next = ''
  const drawn = async () => {
    isDrawing = true
    while (next !== '') {
      const image = next
      next = ''
      const bitmap = await createImageBitmap(blobFrom(image)).catch(() => null)
      if (bitmap !== null) draw(canvasNow(), bitmap)
    }
    isDrawing = false
  }
  return (image) => {
    next = image
    if (!isDrawing) void drawn()
  }
}
