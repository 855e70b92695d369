import { ApiError, headOf, pathOf } from '../api.js'
import { blobFrom, draw } from '../parts/pictures.js'
import { streamFrames } from '../playground/server-events.js'

/** @typedef {{ image: string, width: number, height: number, url: string }} LiveFrame */

/** Delay in ms before a broken stream is opened again. */
const againMs = 1_000

/**
 * Shows the page of a job until the job continues, reopening broken streams.
 *
 * @param {object} live
 * @param {string} live.project
 * @param {string} live.id
 * @param {(frame: LiveFrame) => void} live.show
 * @param {AbortSignal} live.signal
 * @throws {import('../api.js').ApiError} when the server refuses
 */
export const watchJob = async ({ project, id, show, signal }) => {
  while (!signal.aborted) {
    const isOver = await streamed({ project, id, show, signal })
    if (isOver) return
    await new Promise((resolve) => setTimeout(resolve, againMs))
  }
}

/** @param {Parameters<typeof watchJob>[0]} live @returns {Promise<boolean>} whether the job's live view has ended */
const streamed = async ({ project, id, show, signal }) => {
  const head = headOf(project, 'browser_jobs.live', undefined)
  const path = pathOf(project, 'browser_jobs.live', { params: { jobId: id } })
  let isOver = false
  /** @param {import('../playground/conversation.js').Frame} frame */
  const take = ({ event, data }) => {
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

/** @param {any} data @returns {LiveFrame} */
const frameOf = ({ image, width, height, url }) => ({ image, width, height, url })

/**
 * Draws incoming pictures; of those that arrive while one is being decoded, only the last is drawn.
 *
 * @param {() => HTMLCanvasElement | null} canvasNow
 * @returns {(image: string) => void}
 */
export const drawing = (canvasNow) => {
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
