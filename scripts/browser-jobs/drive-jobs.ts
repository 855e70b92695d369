import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { html, Site } from '#test/support/site.ts'

/** How many jobs there are, and against which server. */
export interface DriveOptions {
  /** Starts a server whose pages may be at this host. */
  readonly start: (host: string) => Promise<{ readonly url: string; readonly key: string }>
  readonly count: number
  /** Jobs that are open at a time. */
  readonly open: number
}

/** What became of the jobs. */
export interface DriveReport {
  readonly completed: number
  readonly cancelled: number
  /** Why others ended. */
  readonly failures: readonly string[]
  /** Forms that jobs sent, and those that came twice. */
  readonly sent: number
  readonly sentTwice: number
  /** Browsers at work at a time, as far as it was seen; 0 without /proc. */
  readonly mostBrowsers: number
  /** Processes of browsers after the last job. */
  readonly left: readonly string[]
}

/** How often each open job is polled, and the browsers at work are counted. */
const [pollMs, lookMs] = [1_000, 200]
/** Every fifth job sends a form, every tenth is cancelled while its page waits. */
const [sends, isCancelled] = [(n: number) => n % 5 === 1, (n: number) => n % 10 === 7]

/** Opens browser jobs, so many at a time, and waits for the end of each. Three kinds: they read, send a form, or are cancelled. */
export const driveJobs = async ({ start, count, open }: DriveOptions): Promise<DriveReport> => {
  const site = await Site.open()
  const { url, key } = await start(site.host)
  const request = async (path: string, body?: object): Promise<ReturnType<typeof JSON.parse>> => {
    const headers = {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { 'idempotency-key': randomUUID() }),
    }
    const method = body === undefined ? 'GET' : 'POST'
    const answer = await persistently(() =>
      fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    )
    return answer.json()
  }
  const ids = new Set<string>()
  const ends: { readonly status: string; readonly code: string }[] = []
  let next = 0
  const one = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      site.pages.set(
        `/form/${n}`,
        html(`<title>${n}</title><form method="post" action="/sent/${n}"><button>Send</button></form>`),
      )
      site.pages.set(`/sent/${n}`, html('<p>Sent'))
      const { id } = await request('/v1/web/browse', {
        url: site.url(`/form/${n}`),
        timeoutMs: 60_000,
        actions: actionsOf(n),
      })
      ids.add(id)
      ends.push(await ended(id, isCancelled(n)))
    }
  }
  const ended = async (id: string, cancels: boolean) => {
    for (;;) {
      const { status, error } = await request(`/v1/web/browse/${id}`)
      if (status !== 'queued' && status !== 'running') return { status, code: error?.code ?? '' }
      if (cancels && status === 'running') await request(`/v1/web/browse/${id}/cancel`, {})
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }
  const watch = watchBrowsers(ids)
  try {
    await Promise.all(Array.from({ length: open }, one))
  } finally {
    clearInterval(watch.timer)
    await site.close()
  }
  const forms = site.paths().filter((path) => path.startsWith('/sent/'))
  return {
    completed: ends.filter(({ status }) => status === 'completed').length,
    cancelled: ends.filter(({ status }) => status === 'cancelled').length,
    failures: ends.flatMap(({ status, code }) => (status === 'failed' ? [code] : [])),
    sent: new Set(forms).size,
    sentTwice: forms.length - new Set(forms).size,
    mostBrowsers: watch.most,
    left: await browsersOf(ids),
  }
}

/** On a machine that stands still a connection may end as it is used again; a server that is gone refuses every attempt. */
const persistently = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (let left = 4; ; left -= 1) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, lookMs))
    }
  }
}

const actionsOf = (n: number): readonly object[] => {
  if (sends(n)) return [{ type: 'click', selector: 'button' }]
  return isCancelled(n) ? Array.from({ length: 10 }, () => ({ type: 'waitFor', milliseconds: 5_000 })) : []
}

/** Counts the browsers at work, one look at a time, until its timer is cleared. */
const watchBrowsers = (ids: ReadonlySet<string>) => {
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    watch.most = Math.max(watch.most, new Set(await browsersOf(ids)).size)
    isLooking = false
  }
  const watch = { most: 0, timer: setInterval(() => void look(), lookMs) }
  return watch
}

/** Jobs whose browser has a process, once for its first one; none where there is no /proc. */
const browsersOf = async (ids: ReadonlySet<string>): Promise<readonly string[]> => {
  const names = await readdir('/proc').catch(() => [])
  const commands = await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map((name) => readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')),
  )
  return commands.flatMap((command) => {
    const [, id = ''] = /--troupe-job=(job_\w+)/.exec(command) ?? []
    return ids.has(id) ? [id] : []
  })
}
