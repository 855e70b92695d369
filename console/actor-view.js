import { ActPanel } from './act-panel.js'
import { chip, factList, ownerList, relatedList, stateOf } from './actor-facts.js'
import { SequencePanel, StepsPanel } from './actor-panels.js'
import { liveSource } from './actor-source.js'
import { ApiError, file } from './api.js'
import { downloadBundle } from './bundle.js'
import { Chart } from './chart.js'
import { ChartPlay } from './chart-play.js'
import { ContextPanel } from './context-panel.js'
import { h } from './dom.js'
import { machineName } from './format.js'
import { html, render } from './html.js'
import { JobPanel } from './job-panel.js'
import { LogPanel } from './log-panel.js'
import { listHash, routeHash } from './route.js'
import { Scrubber } from './scrubber.js'
import { activeAt, StepBook } from './steps-model.js'
import { WaterfallPanel } from './waterfall-panel.js'
import { WhyPanel } from './why-panel.js'

/**
 * @typedef {import('./actor-facts.js').Actor} Actor
 * @typedef {import('./event-log.js').ActorEvent} ActorEvent
 * @typedef {import('./steps-model.js').Step} Step
 * @typedef {'steps' | 'log' | 'time' | 'messages' | 'context' | 'pages'} Tab
 */

/** Number of commits per read, and the maximum number that is shown of a long history. */
const stepPage = 200
const maxSteps = 2000
/** Minimum and maximum time between two reads of the state, in ms: some transitions write no event. */
const pollMs = 200
const maxPollMs = 2000

/** @type {readonly (readonly [Tab, string])[]} */
const tabs = [
  ['steps', 'Steps'],
  ['log', 'Log'],
  ['time', 'Waterfall'],
  ['messages', 'Messages'],
  ['context', 'Context'],
]
/** Shown for browser jobs only. @type {readonly [Tab, string]} */
const pagesTab = ['pages', 'Pages']

/** One actor: its chart with the active states, its pending work, its history and its log. */
export class ActorView {
  element = h('div', { class: 'actor' })
  #project
  #id
  #operates
  #source
  #report
  #state = h('span', { class: 'state-now', role: 'status' })
  #stream = h('span', { class: 'stream', role: 'status' })
  #act = h('div', { class: 'acting' })
  #why = h('div', { class: 'why-box' })
  #waiting = h('div', { class: 'waiting' })
  #facts = h('div', { class: 'details' })
  #chartBox = h('div', { class: 'chart-box', tabindex: 0, role: 'group', 'aria-label': 'State chart' })
  #tabBar = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'History' })
  #panel = h('div', { class: 'panel', role: 'tabpanel', id: 'history', tabindex: 0 })
  /** @type {Tab} */
  #tab = 'log'
  /** Whether the user has chosen the tab. */
  #chose = false
  #book = new StepBook()
  /** @type {Actor | null} */
  #actor = null
  /** @type {import('./chart-model.js').Layout | null} */
  #layout = null
  /** @type {ChartPlay | null} */
  #play = null
  #scrubber
  #log
  #stopped = false
  #polling = false
  #pollAgain = false
  #timer = 0
  #unfollow = () => {}
  /** @type {number | undefined} */
  #wanted

  /**
   * @param {{ project: string, id: string, operates: boolean, step?: number, source?: import('./actor-source.js').ActorSource }} place
   *   `operates`: the user may act on stuck work and read the audit log; `step`: number of the commit to show;
   *   `source`: where the actor is read from, by default the server
   * @param {(error: unknown) => void} report called with an error, and with null when it is resolved
   */
  constructor({ project, id, operates, step, source = liveSource(project, id) }, report) {
    this.#source = source
    this.#operates = operates
    this.#project = project
    this.#id = id
    this.#report = report
    this.#wanted = step
    this.#log = new LogPanel({ project, read: source.events, report })
    this.#scrubber = new Scrubber((index) => this.#travelled(index))
  }

  /** Reads the actor, its newest commits and events, then follows. @throws {ApiError} */
  async start() {
    /** @type {Actor} */
    const actor = await this.#source.actor()
    const layout = await file(`/charts/${encodeURIComponent(actor.machine)}.layout.json`)
    const chart = new Chart(layout)
    this.#layout = layout
    this.#play = new ChartPlay(chart, () => this.#showActiveState())
    if (actor.last_sequence === 0) this.#tab = 'steps'
    this.#fill(actor, chart)
    await Promise.all([this.#readSteps(Math.max(0, actor.seq - maxSteps)), this.#log.start(actor.last_sequence)])
    this.#show(actor)
    // the actor may have moved on between the two reads, so that its commits are the newer source
    const newest = this.#book.last > actor.seq ? this.#book.stateAt(this.#book.steps.length - 1) : null
    this.#play.settle(newest === null ? actor.active : activeAt(newest))
    this.#showTab(this.#tab)
    const at = this.#book.steps.findIndex(({ seq }) => seq === this.#wanted)
    if (at >= 0) this.#scrubber.go(at)
    if (this.#stopped) return
    addEventListener('keydown', this.#onKey)
    if (!this.#source.live) return
    this.#poll()
    this.#unfollow = this.#source.follow({
      last: () => this.#log.last,
      onEvent: () => {
        this.#log.poke()
        this.#poll()
      },
      onStatus: (status) => {
        this.#stream.textContent = status
        this.#stream.dataset.status = status
      },
      mayRetry: () => this.#isThere(),
    })
  }

  /** Called when the element has been added to the page. */
  shown() {
    this.#log.scrollToEnd()
    this.#showActiveState()
  }

  stop() {
    this.#stopped = true
    clearTimeout(this.#timer)
    removeEventListener('keydown', this.#onKey)
    this.#play?.stop()
    this.#unfollow()
  }

  /** @param {Actor} actor @param {Chart} chart */
  #fill(actor, chart) {
    const list = listHash({ project: this.#project, machine: actor.machine })
    const name = machineName(actor.machine)
    const bundle = () =>
      downloadBundle(actor.id, { steps: this.#book.steps, log: this.#log.events, actor: this.#actor })
    this.element.replaceChildren(
      h(
        'div',
        { class: 'view-head' },
        h(
          'nav',
          { 'aria-label': 'Breadcrumb' },
          h('a', { href: list }, `${name.charAt(0).toUpperCase()}${name.slice(1)}`),
        ),
        h('h1', {}, actor.id),
        this.#state,
        this.#source.live
          ? h('button', { type: 'button', class: 'quiet', click: bundle }, 'Save bundle')
          : h('span', { class: 'muted' }, 'A saved bundle (read-only).'),
        this.#source.live ? this.#stream : null,
      ),
      h(
        'section',
        { class: 'left', 'aria-label': 'State' },
        ...[this.#act, this.#waiting, this.#why, this.#chartBox, this.#scrubber.element, this.#facts],
      ),
      h('section', { class: 'right', 'aria-label': 'History' }, this.#tabBar, this.#panel, this.#log.element),
    )
    this.#chartBox.replaceChildren(chart.element)
  }

  /** @param {Actor} actor */
  #show(actor) {
    this.#actor = actor
    const state = stateOf(actor)
    if (this.#state.textContent !== state) this.#state.replaceChildren(chip(state))
    const focused = document.activeElement instanceof HTMLAnchorElement ? document.activeElement.href : null
    this.#waiting.replaceChildren(...[relatedList(this.#project, actor)].filter((part) => part !== null))
    this.#facts.replaceChildren(...[factList(actor), ownerList(this.#book.steps)].filter((part) => part !== null))
    if (focused !== null) [...this.#waiting.querySelectorAll('a')].find(({ href }) => href === focused)?.focus()
    const parts = { project: this.#project, actor, layout: this.#layout }
    render(html`<${WhyPanel} ...${parts} steps=${this.#book.steps} />`, this.#why)
    const acts = { ...parts, steps: this.#book.steps, operates: this.#operates, done: () => this.#poll() }
    if (this.#source.live) render(html`<${ActPanel} ...${acts} />`, this.#act)
    if (!this.#scrubber.travels && this.#book.steps.every(({ to }) => to === null)) this.#play?.settle(actor.active)
  }

  /** @param {Tab} tab */
  #showTab(tab) {
    this.#tab = tab
    const stood = this.#tabBar.contains(document.activeElement)
    this.#tabBar.replaceChildren(
      ...this.#tabs().map(([name, title]) =>
        h(
          'button',
          {
            type: 'button',
            role: 'tab',
            'aria-selected': String(name === tab),
            'aria-controls': 'history',
            click: () => {
              this.#chose = true
              this.#showTab(name)
            },
          },
          title,
        ),
      ),
    )
    const chosen = this.#tabBar.querySelector('[aria-selected=true]')
    if (stood && chosen instanceof HTMLElement) chosen.focus()
    this.#log.element.hidden = tab !== 'log'
    this.#panel.hidden = tab === 'log'
    this.#renderPanel()
  }

  /** Tabs of the actor. A saved bundle has no tab for the pages of a job, since it does not contain their pictures. */
  #tabs() {
    const isJob = this.#actor?.machine === 'browser_job' && this.#source.live
    return isJob ? [...tabs, pagesTab] : tabs
  }

  #renderPanel() {
    const parts = { project: this.#project, id: this.#id, steps: this.#book.steps, layout: this.#layout }
    const chosen = this.#scrubber.travels ? this.#scrubber.index : -1
    const panels = {
      steps: html`<${StepsPanel} ...${parts} chosen=${chosen} choose=${(/** @type {number} */ index) => this.#scrubber.go(index)} />`,
      time: html`<${WaterfallPanel} ...${parts} live=${this.#source.live} />`,
      messages: html`<${SequencePanel} ...${parts} />`,
      context: html`<${ContextPanel} ...${this.#book.contextAt(this.#scrubber.index)} />`,
      pages: html`<${JobPanel} project=${this.#project} id=${this.#id} seq=${this.#book.last} />`,
      log: null,
    }
    render(panels[this.#tab], this.#panel)
  }

  /** Called when the user has moved to a commit; null: to the newest. @param {number | null} index */
  #travelled(index) {
    const { steps } = this.#book
    const step = index === null ? undefined : steps[index]
    const place = { view: /** @type {const} */ ('actor'), project: this.#project, id: this.#id }
    if (this.#source.live) history.replaceState(null, '', routeHash({ ...place, ...(step && { step: step.seq }) }))
    this.#showWay()
    if (index === null) this.#play?.settle(this.#actor?.active ?? [])
    else {
      const before = index > 0 ? this.#book.stateAt(index - 1) : null
      const leaf = this.#book.stateAt(index)
      if (leaf !== null) this.#play?.stand(activeAt(leaf), before === null ? null : activeAt(before))
    }
    this.#log.standAt(index === null ? null : this.#book.sequenceAt(index))
    this.#renderPanel()
    this.#panel.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' })
  }

  /** Marks the edges taken up to the selected commit, as far as the loaded commits show. */
  #showWay() {
    const upTo = this.#scrubber.travels ? this.#scrubber.index : this.#book.steps.length - 1
    this.#play?.chart.walk(this.#book.statesTo(upTo))
  }

  /** ← and → move through the commits, unless the focus is in an input or in the chart. @param {KeyboardEvent} event */
  #onKey = (event) => {
    const { key, target, metaKey, ctrlKey, altKey } = event
    const ours = !(target instanceof Element && target.matches('input, textarea, select, .chart-box'))
    if (!ours || metaKey || ctrlKey || altKey || document.querySelector('dialog[open]') !== null) return
    if (key === 'ArrowLeft') this.#scrubber.move(-1)
    else if (key === 'ArrowRight') this.#scrubber.move(1)
    else return
    event.preventDefault()
  }

  /** Scrolls the active state into view if the chart is larger than its box. */
  #showActiveState() {
    const active = this.#play?.chart.activeBox()
    if (!active) return
    const box = this.#chartBox.getBoundingClientRect()
    const inside =
      active.left >= box.left && active.right <= box.right && active.top >= box.top && active.bottom <= box.bottom
    if (inside) return
    this.#chartBox.scrollLeft += active.left + active.width / 2 - (box.left + box.width / 2)
    this.#chartBox.scrollTop += active.top + active.height / 2 - (box.top + box.height / 2)
  }

  /** Reads the commits after this one, to the newest. @param {number} from */
  async #readSteps(from) {
    for (let after = from, more = true; more && !this.#stopped; ) {
      const { data, last_seq } = await this.#source.steps(after, stepPage)
      const fresh = this.#book.add(data)
      after = data.at(-1)?.seq ?? last_seq
      more = data.length > 0 && after < last_seq
      if (fresh.length === 0) continue
      this.#scrubber.grow(this.#book.steps)
      this.#showWay()
      const states = fresh.flatMap(({ to }) => (to === null ? [] : [activeAt(to)]))
      if (!this.#scrubber.travels && this.#polling) this.#play?.play(states)
      this.#renderPanel()
    }
  }

  /** Reads the state now or after the current read, and again after a while. */
  #poll() {
    if (this.#polling) {
      this.#pollAgain = true
      return
    }
    void this.#pollNow()
  }

  async #pollNow() {
    clearTimeout(this.#timer)
    this.#polling = true
    this.#pollAgain = false
    await this.#isThere()
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    this.#polling = false
    if (this.#stopped) return
    if (this.#pollAgain) this.#poll()
    else this.#timer = setTimeout(() => this.#pollWhenVisible(), maxPollMs)
  }

  #pollWhenVisible() {
    if (document.visibilityState === 'visible') this.#poll()
    else document.addEventListener('visibilitychange', () => this.#poll(), { once: true })
  }

  /** Reads and shows the current state. @returns {Promise<boolean>} whether reading it again makes sense */
  async #isThere() {
    try {
      /** @type {Actor} */
      const actor = await this.#source.actor()
      if (actor.seq > this.#book.last) await this.#readSteps(this.#book.last)
      if (actor.last_sequence > this.#log.last) this.#log.poke()
      if (actor.last_sequence > 0 && !this.#chose && this.#tab !== 'log') this.#showTab('log')
      if (!this.#stopped) this.#show(actor)
      this.#report(null)
      return !this.#stopped
    } catch (error) {
      if (this.#stopped) return false
      this.#report(error)
      const gone = error instanceof ApiError && (error.status === 404 || error.status === 401)
      if (gone) this.stop()
      return !gone
    }
  }
}
