import type { CDPSession, Page } from 'playwright'

interface FrameTree {
  readonly frame: { readonly id: string; readonly url: string }
  readonly childFrames?: readonly FrameTree[]
}

/** Maximum number of frames of other origins that are read. */
const maxFrames = 20

/**
 * Evaluates a script in the page and in frames of its site, in isolated worlds that the page's scripts cannot
 * influence. Frames of the page's own origin are left out, since the script can reach them itself. The results are
 * strings, that of the page first.
 */
export const evaluateInSite = async (page: Page, expression: string, timeoutMs: number): Promise<readonly string[]> => {
  const session = await page.context().newCDPSession(page)
  try {
    const { frameTree } = await session.send('Page.getFrameTree')
    const results = [await evaluated(session, frameTree.frame.id, { expression, timeoutMs })]
    for (const id of framesOfSite(frameTree).slice(0, maxFrames))
      results.push(await evaluated(session, id, { expression, timeoutMs }).catch(() => ''))
    return results
  } finally {
    await session.detach().catch(() => {})
  }
}

const evaluated = async (
  session: CDPSession,
  frameId: string,
  { expression, timeoutMs }: { readonly expression: string; readonly timeoutMs: number },
): Promise<string> => {
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId })
  const { result } = await session.send('Runtime.evaluate', {
    ...{ expression, contextId, returnByValue: true, timeout: timeoutMs },
  })
  return String(result.value ?? '')
}

/** Returns the ids of frames whose origin is another one of the page's site. */
const framesOfSite = ({ frame, childFrames = [] }: FrameTree): readonly string[] => {
  const own = URL.parse(frame.url)
  if (own === null) return []
  const found: string[] = []
  const queue = [...childFrames]
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    queue.push(...(next.childFrames ?? []))
    const url = URL.parse(next.frame.url)
    if (url !== null && url.origin !== own.origin && isSameSite(url, own)) found.push(next.frame.id)
  }
  return found
}

/** Whether one host is the other, or below it; `www.` does not count. */
const isSameSite = (one: URL, other: URL): boolean => {
  if (!/^https?:$/.test(one.protocol)) return false
  const [a, b] = [one, other].map(({ hostname }) => hostname.replace(/^www\./, ''))
  if (a === undefined || b === undefined) return false
  return a === b || isBelow(a, b) || isBelow(b, a)
}

const isBelow = (host: string, domain: string): boolean => domain.includes('.') && host.endsWith(`.${domain}`)
