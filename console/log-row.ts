import { type Entry, type EventEntry, firstOf, lastOf, type TextEntry } from './event-log.ts'
import { preciseTime } from './format.ts'
import { html, useMemo, useRef, useState } from './html.ts'
import { linkedIds } from './linked-ids.ts'
import { Pictures } from './parts/pictures.ts'
import { imagesIn } from './parts/turn-input.ts'
import { jsonText } from './parts/turned-text.ts'
import { isFailure } from './tool-failure.ts'

/** `project`: of the actors that ids in payloads link to; `session`: whose images are read, '' for none */
export type LogPlace = Readonly<{ project: string; session: string }>

/** An entry as text, for searching and copying. */
export const textOf = (entry: Entry) => {
  const [event, name, body] =
    entry.kind === 'text'
      ? [entry.events[0], 'output_text.delta', entry.text]
      : [entry.event, entry.event.event_type, jsonText(entry.event.payload, 2)]
  const turn = event?.turn_number ?? null
  const time = event === undefined ? '' : preciseTime(event.created_at)
  return `${rangeOf(entry)} ${name}${turn === null ? '' : ` turn ${turn}`} ${time}\n${body}`
}

/**
 * An entry as a row of the log's table. Its row index is its first event's sequence, which does not change when older
 * rows are added.
 *
 * @param props `isAhead`: it is after the selected commit
 */
export const LogRow = ({ entry, place, isAhead }: { entry: Entry; place: LogPlace; isAhead: boolean }) => {
  const event = entry.kind === 'text' ? undefined : entry.event
  const name = `entry ${isAhead ? 'ahead' : ''}`
  return html`<div class=${name} role="row" aria-rowindex=${firstOf(entry)} data-event=${event?.event_type} data-failed=${(event && isFailure(event)) || undefined}>
    ${entry.kind === 'text' ? html`<${TextCell} entry=${entry} />` : html`<${EventCell} entry=${entry} place=${place} />`}
  </div>`
}

const EventCell = ({ entry, place }: { entry: EventEntry; place: LogPlace }) => {
  const { event } = entry
  const text = useMemo(() => linkedIds(place.project, jsonText(event.payload, 2)), [event])
  return html`<div role="cell">
    <${Head} range=${String(event.sequence)} name=${event.event_type} event=${event} />
    <pre class=${`payload underlined ${entry.isWhole ? 'whole' : ''}`}>${text}</pre>
    <${Pictures} images=${imagesIn(event.payload.input)} ...${place} />
  </div>`
}

const TextCell = ({ entry }: { entry: TextEntry }) => {
  const [isOpen, setOpen] = useState(false)
  // a long answer has thousands of deltas, which few users open; each is made once
  const parts = useRef<unknown[]>([])
  if (isOpen) parts.current.push(...entry.events.slice(parts.current.length).map(partOf))
  const toggle = ({ currentTarget }: Event) =>
    setOpen(currentTarget instanceof HTMLDetailsElement && currentTarget.open)
  return html`<div role="cell">
    <${Head} range=${rangeOf(entry)} name="output_text.delta" event=${entry.events[0]} />
    <p class="output my-4 px-10 py-6 border-l-2 border-work bg-page whitespace-pre-wrap wrap-anywhere">${entry.text}</p>
    <details onToggle=${toggle}><summary>Single deltas</summary><ol>${[...parts.current]}</ol></details>
  </div>`
}

const Head = ({ range, name, event }: { range: string; name: string; event: ActorEvent | undefined }) =>
  html`<div class="entry-head grid grid-cols-[minmax(2.6em,max-content)_1fr_auto_auto] items-baseline gap-10 [font:var(--code)]">
    <span class="seq">${range}</span><span class="name font-semibold">${name}</span>
    ${event && event.turn_number !== null && html`<span class="turn">turn ${event.turn_number}</span>`}
    ${event && html`<time datetime=${event.created_at}>${preciseTime(event.created_at)}</time>`}
  </div>`

const partOf = (event: ActorEvent) =>
  html`<li class="flex gap-10 text-soft"><span class="seq">${event.sequence}</span><code class="text-[11.5px] whitespace-pre-wrap wrap-anywhere">${jsonText(event.payload.delta)}</code></li>`

const rangeOf = (entry: Entry) => {
  const [first, last] = [firstOf(entry), lastOf(entry)]
  return first === last ? String(first) : `${first}–${last}`
}
