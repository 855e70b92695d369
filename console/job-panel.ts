import { bytesOf, callApi } from './api.ts'
import { duration, preciseTime, toneOf } from './format.ts'
import { html } from './html.ts'
import { Picture } from './parts/pictures.ts'
import { Trouble } from './parts/trouble.ts'
import { useRead } from './parts/use-read.ts'

/**
 * The steps of a browser job, with a screenshot after each. Texts and titles of pages are shown as plain text only, and
 * their addresses are not links.
 *
 * @param props `seq`: newest commit, after which the job is read again
 */
export const JobPanel = ({ project, id, seq }: { project: string; id: string; seq: number }) => {
  const { data: job, error } = useRead(
    `${id} ${seq}`,
    (signal) => callApi(project, 'browser_jobs.get', { params: { jobId: id }, signal }),
    { keep: true },
  )
  if (job === null) return html`<${Trouble} error=${error} />`
  return html`
    ${job.error !== null && html`<p class="trouble job-trouble px-(--inset) pt-8 wrap-anywhere"><code>${job.error.code}</code> ${job.error.message}</p>`}
    <p class="muted px-(--inset) pt-8">Attempt ${job.attempts}. ${job.submitted ? 'The page has submitted data.' : 'Nothing was submitted.'}</p>
    ${job.steps.length === 0 && html`<p class="empty">No page was opened yet.</p>`}
    <ol class="grid gap-14 pl-34 pr-(--inset) pt-8 pb-14 list-decimal">
      ${job.steps.map(
        (step) => html`
        <li key=${`${job.attempts}-${step.index}`}>
          <p><strong>${step.type}</strong> ${step.selector !== null && html`<code class="wrap-anywhere">${step.selector}</code>`} <span class="chip" data-tone=${toneOf(step.status)}>${step.status}</span> <time datetime=${step.startedAt}>${preciseTime(step.startedAt)}</time> <span class="muted">${duration(step.durationMs)}</span></p>
          <p class="muted"><code class="wrap-anywhere">${step.url}</code></p>
          ${step.screenshot === null ? html`<p class="muted">No screenshot available.</p>` : html`<${Screenshot} project=${project} id=${id} index=${step.index} />`}
        </li>`,
      )}
    </ol>
  `
}

const Screenshot = ({ project, id, index }: { project: string; id: string; index: number }) => {
  const { data, error } = useRead(`${id} ${index}`, () =>
    bytesOf(project, 'browser_jobs.picture', { jobId: id, index: String(index) }),
  )
  if (error !== null) return html`<p class="muted">The screenshot cannot be displayed.</p>`
  return html`<${Picture} blob=${data} label=${`Page after step ${index + 1}`} class="block max-w-full mt-4 border border-line rounded-6" />`
}
