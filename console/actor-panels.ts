import { duration, preciseTime, toneOf } from './format.ts'
import { html } from './html.ts'
import { linked } from './linked-ids.ts'
import { titleOf } from './names.ts'
import { routeHash } from './route.ts'
import { framesOf } from './scrubber.ts'
import { type EffectSpan, effectSpans, messagesOf, nameOf, takeoverText } from './steps-model.ts'

/** Label of what caused a step. */
export const causeOf = ({ caused_by }: Step) =>
  caused_by === 'creation' ? 'created' : caused_by === 'effect' ? 'result' : caused_by

/** One row per commit: cause, from → to with the guard that decided, effects, messages, reminders. */
export const StepsPanel = (props: Props & { chosen: number; choose: (index: number) => void }) => {
  const { project, steps, layout, chosen, choose } = props
  const spans = new Map(effectSpans(steps).map((span) => [span.id, span]))
  // the log has the content of a stream's parts, so consecutive parts share one row
  const rows = framesOf(steps)
  return html`
    <ol class="steps">
      ${rows.map(
        ({ step, index }) => html`
        <li key=${step.seq} class=${`px-(--inset) pb-6 border-b border-line text-12 wrap-anywhere ${index === chosen ? 'chosen' : ''}`} data-seq=${step.seq}>
          <button type="button" class="step-head grid grid-cols-[minmax(2.6em,max-content)_auto_1fr_auto] items-baseline gap-10 w-full px-0 pt-5 pb-2 border-0 bg-transparent text-inherit [font:var(--code)] text-left" aria-pressed=${index === chosen} onClick=${() => choose(index)}>
            <span class="seq">${step.seq}</span>
            <span class="step-cause">${causeOf(step)}</span>
            <span class="font-semibold">${nameOf(layout, step)}</span>
            <time datetime=${step.at}>${preciseTime(step.at)}</time>
          </button>
          ${step.to !== null && html`<p>${step.from === null ? null : html`<span class="chip" data-tone=${toneOf(step.from)}>${step.from}</span> → `}<span class="chip" data-tone=${toneOf(step.to)}>${step.to}</span></p>`}
          ${step.owner && step.seq > 1 && html`<p class="muted">taken over by <strong>${step.owner.node ?? 'a node'}</strong>, ${takeoverText(step.owner)}, epoch ${step.owner.epoch}${step.owner.since !== null && `, ${preciseTime(step.owner.since)}`}</p>`}
          ${step.caused_by === 'message' && html`<p class="muted">from ${linked(project, step.cause.replace(/:\d+:m\d+$/, ''))}</p>`}
          ${step.effects.map((effect) => html`<p><strong>${effect.name}</strong> ${outcomeOf(spans.get(effect.id))}</p>`)}
          ${step.messages.map(({ to, event }) => html`<p class="muted">→ ${linked(project, to)} ${event}</p>`)}
        </li>`,
      )}
    </ol>
  `
}

const outcomeOf = (span: EffectSpan | undefined) => {
  if (span === undefined) return null
  const attempts = span.attempts > 1 ? `, attempt ${span.attempts}` : ''
  if (span.endedAt === null) return html`<span class="chip" data-tone="work">in progress${attempts}</span>`
  return html`<span class="muted">${duration(span.endedAt - span.startedAt)}${attempts}</span> ${span.outcome}`
}

const laneWidth = 150
const rowHeight = 34

/** Messages between this actor and others, in their order. */
export const SequencePanel = ({ project, id, steps }: Props) => {
  const sent = messagesOf(id, steps)
  if (sent.length === 0) return html`<p class="empty">This actor has sent or received no messages.</p>`
  const lanes = [...new Set([id, ...sent.flatMap(({ from, to }) => [from, to])])]
  const [width, height] = [lanes.length * laneWidth, 40 + sent.length * rowHeight]
  const middle = (actor: string) => lanes.indexOf(actor) * laneWidth + laneWidth / 2
  return html`
    <div class="chart-box" tabindex="0" role="group" aria-label="Messages">
      <svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`}>
        ${lanes.map(
          (lane) => html`
          <line class="stroke-line" x1=${middle(lane)} x2=${middle(lane)} y1="28" y2=${height} />
          ${/_[0-9a-z]{26}$/.test(lane) ? html`<a href=${routeHash({ view: 'actor', project, id: lane })}><text class="fill-accent [font:12px_var(--mono)]" x=${middle(lane)} y="16" text-anchor="middle"><title>${lane}</title>${shortened(titleOf(lane))}</text></a>` : html`<text class="fill-ink [font:12px_var(--mono)]" x=${middle(lane)} y="16" text-anchor="middle">${lane}</text>`}`,
        )}
        ${sent.map(({ from, to, event, at }, index) => {
          const y = 56 + index * rowHeight
          const [x1, x2] = [middle(from), middle(to)]
          const tip = x2 > x1 ? -6 : 6
          return html`<g><title>${at}</title><path class="fill-none stroke-edge" d=${`M${x1} ${y}H${x2}m${tip} -4l${-tip} 4l${tip} 4`} /><text class="fill-ink [font:12px_var(--mono)]" x=${(x1 + x2) / 2} y=${y - 6} text-anchor="middle">${event}</text></g>`
        })}
      </svg>
    </div>
  `
}

const shortened = (text: string) => (text.length > 19 ? `${text.slice(0, 18)}…` : text)
