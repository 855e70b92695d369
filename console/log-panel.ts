import { h } from './dom.ts'
import { EventLog } from './event-log.ts'
import { preciseTime } from './format.ts'
import { html, render, typed } from './html.ts'
import type { LogPlace } from './log-row.ts'
import { LogView } from './log-view.ts'
import { Held } from './parts/held.ts'

type ReadEvents = (
  after: number,
  limit: number,
) => Promise<{ readonly data: readonly ActorEvent[]; readonly last_sequence: number }>

/** Number of events per read, and maximum number of entries on the page. */
const pageSize = 200
const maxEntries = 10_000
/** Batching window of new events, in ms. */
const gatherMs = 60

/** An actor's growing log. */
export class LogPanel {
  /** The newest failure, until a later turn has started. */
  failure: ActorEvent | null = null
  element = h('div', { class: 'flex flex-1 flex-col min-h-0' })
  #parts
  #log = new EventLog(0)
  #view
  #filling = false
  #again = false
  #loading = false

  /** @param parts `session`: whose images are read; `grown`: called after events were added */
  constructor(parts: LogPlace & { read: ReadEvents; report: (error: unknown) => void; grown?: () => void }) {
    this.#parts = parts
    this.#view = new LogView(parts)
    this.#view.onStart = () => void this.#readEarlier()
  }

  /** Sequence of the newest event. */
  get last() {
    return this.#log.last
  }

  /** All loaded events. */
  get events() {
    return this.#log.entries.flatMap((entry) => (entry.kind === 'text' ? entry.events : [entry.event]))
  }

  /** Reads the newest events. */
  async start(lastSequence: number) {
    this.#log = new EventLog(Math.max(0, lastSequence - pageSize))
    await this.#readOn()
  }

  scrollToEnd() {
    this.#view.scrollToEnd()
  }

  /** Dims events after this one; null: none. */
  standAt(sequence: number | null) {
    this.#view.standAt(sequence)
  }

  /** Reads new events, after a stream has signalled them: the stream does not contain their times. */
  poke() {
    this.#again = true
    void this.#readOn().catch(this.#parts.report)
  }

  /** Reads the log from the last loaded event to its end. */
  async #readOn() {
    if (this.#filling) return
    this.#filling = true
    try {
      for (let more = true; more; ) {
        this.#again = false
        const page = await this.#parts.read(this.#log.last, pageSize)
        for (const event of page.data) if (['new', 'grown'].includes(this.#log.add(event))) this.#note(event)
        this.#log.trim(maxEntries)
        if (page.data.length > 0) this.#grown()
        more = this.#again || (page.data.length > 0 && this.#log.last < page.last_sequence)
        if (this.#again) await new Promise((resolve) => setTimeout(resolve, gatherMs))
      }
    } finally {
      this.#filling = false
    }
    this.#render()
  }

  async #readEarlier() {
    const { before } = this.#log
    if (this.#loading || before === 0) return
    const older: ActorEvent[] = []
    this.#loading = true
    this.#render()
    try {
      // the server may answer with fewer than were requested
      for (let after = Math.max(0, before - pageSize); after < before; ) {
        const { data } = await this.#parts.read(after, before - after)
        older.push(...data)
        after = data.at(-1)?.sequence ?? before
      }
      if (this.#log.before === before) this.#log.addBefore(older)
    } catch (error) {
      this.#parts.report(error)
    }
    this.#loading = false
    this.#grown()
  }

  /** Keeps the newest failure, until a later turn has started. */
  #note(event: ActorEvent) {
    const { event_type: type } = event
    const isOfTurn = /(^|\.)(turn|run)\.?.*(started|completed)$/.test(type) && !/tool|model/.test(type)
    if (isOfTurn) this.failure = null
    if (type.endsWith('failed')) this.failure = event
  }

  #grown() {
    this.#view.show(this.#log.entries)
    this.#render()
    this.#parts.grown?.()
  }

  #render() {
    render(
      html`<div class="flex gap-10 px-(--inset) py-6 border-b border-line">
          <input class="flex-1 min-w-0" type="search" aria-label="Search the log" placeholder="Search" onInput=${typed((text) => this.#view.search(text))} />
          <button type="button" class="quiet" hidden=${this.#log.before === 0} disabled=${this.#loading} onClick=${() => this.#readEarlier()}>Load earlier</button>
        </div>
        <${Held} of=${this.#view.element} />`,
      this.element,
    )
  }
}

export const Failure = ({ failure }: { failure: ActorEvent | null }) => {
  if (failure === null) return null
  const { payload, event_type, created_at } = failure
  const error = typeof payload.error === 'object' && payload.error !== null ? payload.error : payload
  return html`<div class="log-error flex flex-wrap gap-x-12 gap-y-2 px-(--inset) py-8 bg-bad-soft text-bad wrap-anywhere">
    <strong>${Reflect.get(error, 'code') ?? event_type}</strong><span>${Reflect.get(error, 'message')}</span><time class="ml-auto" datetime=${created_at}>${preciseTime(created_at)}</time>
  </div>`
}
