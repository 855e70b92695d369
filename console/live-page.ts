import { h } from './dom.ts'
import { render } from './html.ts'
import { withNames } from './names.ts'
import type { ComponentChild as Child } from './vendor/preact.js'

/**
 * Declares a page by what it reads and shows. It reads again at intervals while it is visible, and when `done` is
 * called.
 */
export const livePage =
  <Data, P extends { project: string } = Place>({
    read,
    show,
    everyMs = 5_000,
  }: {
    /** `before`: what it has read last */
    read: (place: P, before: Data | null) => Promise<Data>
    show: (shown: { place: P; data: Data; done: () => Promise<void> }) => Child
    /** 0: it is read once */
    everyMs?: number
  }) =>
  (place: P, notice: (error: unknown) => void) => {
    const element = h('div', { class: 'page' })
    let stopped = false
    let timer = 0
    let data: Data | null = null
    // a page that was left says nothing on the one that is shown
    const report = (error: unknown) => {
      if (!stopped) notice(error)
    }
    const refresh = async () => {
      // after the names of all that it mentions
      const next = await withNames(place.project, await read(place, data))
      if (stopped) return
      data = next
      render(show({ place, data, done }), element)
    }
    const done = () => refresh().catch(report)
    const schedule = () => {
      if (stopped || everyMs === 0) return
      timer = setTimeout(async () => {
        if (document.visibilityState === 'visible') await refresh().then(() => report(null), report)
        schedule()
      }, everyMs)
    }
    /** @throws {ApiError} when the first read fails */
    const start = async () => {
      await refresh()
      schedule()
    }
    const stop = () => {
      stopped = true
      clearTimeout(timer)
      render(null, element)
    }
    return { element, start, shown: () => {}, stop }
  }
