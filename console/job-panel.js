import { callApi, headOf, pathOf } from './api.js'
import { duration, preciseTime, toneOf } from './format.js'
import { html } from './html.js'
import { useEffect, useRef, useState } from './vendor/hooks.js'

/**
 * @typedef {{ index: number, type: string, selector: string | null, status: string, url: string, startedAt: string, durationMs: number, screenshot: string | null }} JobStep
 * @typedef {{ steps: readonly JobStep[], error: { code: string, message: string } | null, submitted: boolean, attempts: number }} Job
 */

/**
 * The steps of a browser job, with a screenshot after each. Texts and titles of pages are shown as plain text only, and
 * their addresses are not links.
 *
 * @param {{ project: string, id: string, seq: number }} props `seq`: newest commit, after which the job is read again
 */
export const JobPanel = ({ project, id, seq }) => {
  const [job, setJob] = useState(/** @type {Job | null} */ (null))
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    const abort = new AbortController()
    // an earlier answer that comes late must not take the place of a later one
    callApi(project, 'browser_jobs.get', { params: { jobId: id }, signal: abort.signal }).then(
      (read) => abort.signal.aborted || setJob(read),
      (error) => abort.signal.aborted || setTrouble(String(error.message)),
    )
    return () => abort.abort()
  }, [id, seq])
  if (job === null) return trouble === '' ? null : html`<p class="trouble" role="alert">${trouble}</p>`
  return html`
    ${job.error !== null && html`<p class="trouble job-trouble"><code>${job.error.code}</code> ${job.error.message}</p>`}
    <p class="job-facts muted">Attempt ${job.attempts}. ${job.submitted ? 'The page has submitted data.' : 'Nothing was submitted.'}</p>
    ${job.steps.length === 0 && html`<p class="empty">No page was opened yet.</p>`}
    <ol class="job-steps">
      ${job.steps.map(
        (step) => html`
        <li key=${`${job.attempts}-${step.index}`}>
          <p><strong>${step.type}</strong> ${step.selector !== null && html`<code>${step.selector}</code>`} <span class="chip" data-tone=${toneOf(step.status)}>${step.status}</span> <time datetime=${step.startedAt}>${preciseTime(step.startedAt)}</time> <span class="muted">${duration(step.durationMs)}</span></p>
          <p class="muted"><code>${step.url}</code></p>
          ${step.screenshot === null ? html`<p class="muted">No screenshot available.</p>` : html`<${Picture} project=${project} id=${id} index=${step.index} />`}
        </li>`,
      )}
    </ol>
  `
}

/**
 * A picture that only requests with the session's cookie may read. It is drawn on a canvas, because the page's content
 * security policy allows only images with an address on this server.
 *
 * @param {{ project: string, id: string, index: number }} props
 */
const Picture = ({ project, id, index }) => {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null))
  const [isMissing, setMissing] = useState(false)
  useEffect(() => {
    const params = { jobId: id, index: String(index) }
    void drawn({ project, params }, () => canvas.current).catch(() => setMissing(true))
  }, [id, index])
  if (isMissing) return html`<p class="muted">The screenshot cannot be displayed.</p>`
  return html`<canvas ref=${canvas} class="job-picture" role="img" aria-label=${`Page after step ${index + 1}`} width="0" height="0"></canvas>`
}

/** @param {{ project: string, params: { jobId: string, index: string } }} picture @param {() => HTMLCanvasElement | null} canvasNow */
const drawn = async ({ project, params }, canvasNow) => {
  const head = headOf(project, 'browser_jobs.picture', undefined)
  const answer = await fetch(pathOf(project, 'browser_jobs.picture', { params }), {
    credentials: 'same-origin',
    ...head,
  })
  if (!answer.ok) throw new Error(`${answer.status}`)
  const bitmap = await createImageBitmap(await answer.blob())
  const canvas = canvasNow()
  if (canvas === null) return
  canvas.width = bitmap.width
  canvas.height = bitmap.height
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0)
  bitmap.close()
}
