import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { html, Site } from '#test/support/site.ts'

/** Number of jobs, and the server to run them on. */
export interface DriveOptions {
  /** Starts a server that allows pages on this host. */
  readonly start: (host: string) => Promise<{ readonly url: string; readonly key: string }>
  readonly count: number
  /** Number of concurrent jobs. */
  readonly open: number
}

/** Results of the jobs. */
export interface DriveReport {
  readonly completed: number
  readonly cancelled: number
  /** Error codes of the jobs that failed. */
  readonly failures: readonly string[]
  /** Number of forms that were sent, and of those that were sent twice. */
  readonly sent: number
  readonly sentTwice: number
  /** Maximum number of concurrently running browsers that was observed; 0 without /proc. */
  readonly maxBrowsers: number
  /** Ids of jobs whose browser processes are still running after the last job. */
  readonly left: readonly string[]
}

/** Intervals in ms at which each open job is polled, and the running browsers are counted. */
const [pollMs, watchMs] = [1_000, 200]
/** Every fifth job sends a form, every tenth is cancelled while its page waits. */
const [sends, isCancelled] = [(n: number) => n % 5 === 1, (n: number) => n % 10 === 7]

/**
 * Runs browser jobs, `open` at a time, until all have ended. There are three kinds: jobs that read, that send a form,
 * and that are cancelled.
 */
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
    maxBrowsers: watch.max,
    left: await browsersOf(ids),
  }
}

/**
 * Retries a request up to four times. When the machine stalls, a connection may be closed just as it is reused; a
 * server that is down refuses every attempt.
 */
const persistently = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (let left = 4; ; left -= 1) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, watchMs))
    }
  }
}

const actionsOf = (n: number): readonly object[] => {
  if (sends(n)) return [{ type: 'click', selector: 'button' }]
  return isCancelled(n) ? Array.from({ length: 10 }, () => ({ type: 'waitFor', milliseconds: 5_000 })) : []
}

/** Counts the running browsers at intervals, until its timer is cleared. */
const watchBrowsers = (ids: ReadonlySet<string>) => {
  let isSampling = false
  const sample = async (): Promise<void> => {
    if (isSampling) return
    isSampling = true
    watch.max = Math.max(watch.max, new Set(await browsersOf(ids)).size)
    isSampling = false
  }
  const watch = { max: 0, timer: setInterval(() => void sample(), watchMs) }
  return watch
}

/** Ids of the jobs that running processes name on their command lines, once per process; empty without /proc. */
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
