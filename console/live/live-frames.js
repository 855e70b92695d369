import { errorOf, headOf, pathOf } from '../api.js'
import { framesIn } from '../playground/server-events.js'

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
  const params = { jobId: id }
  const head = headOf(project, 'browser_jobs.live', undefined)
  const headers = { ...head.headers, accept: 'text/event-stream' }
  const path = pathOf(project, 'browser_jobs.live', { params })
  const response = await fetch(path, { ...head, headers, credentials: 'same-origin', signal }).catch(() => null)
  if (response === null) return signal.aborted
  if (!response.ok || response.body === null) throw errorOf(response.status, await response.json().catch(() => null))
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const { frames, rest } = framesIn(text + part.value)
      text = rest
      if (frames.some(({ event }) => event === 'ended')) return true
      const newest = frames.filter(({ event }) => event === 'frame').at(-1)
      if (newest !== undefined) show(frameOf(newest.data))
    }
  } catch {
    // the stream broke: it is opened again, unless the user has left
  }
  return signal.aborted
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
      const bytes = Uint8Array.from(atob(image), (letter) => letter.charCodeAt(0))
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' })).catch(() => null)
      const canvas = canvasNow()
      if (bitmap === null || canvas === null) continue
      if (canvas.width !== bitmap.width) canvas.width = bitmap.width
      if (canvas.height !== bitmap.height) canvas.height = bitmap.height
      canvas.getContext('2d')?.drawImage(bitmap, 0, 0)
      bitmap.close()
    }
    isDrawing = false
  }
  return (image) => {
    next = image
    if (!isDrawing) void drawn()
  }
}
