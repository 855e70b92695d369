import type { BrowserAction, BrowserRequest } from '#machines/browser-job/browser-job.ts'
import { type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { handOverTimeoutMs, maxHandOverMs, viewportHeight, viewportWidth } from '#specs/resources/web/browse-limits.ts'
import { isSecretName } from '#specs/resources/web/secret-selectors.ts'

type Body = BodyOf<'browser_jobs.create'>

/**
 * Returns the validated request of a job.
 *
 * @throws {ServiceError} `invalid_url`, `unsafe_url`, `invalid_browser_action`
 */
export const jobRequest = (guard: Pick<SsrfGuard, 'check'>, body: Body): BrowserRequest => {
  const { url, actions, screenshot, snapshot, waitUntil, timeoutMs, viewport, profile } = body
  requireUrl(guard, url)
  for (const [index, action] of actions.entries()) checkAction(action, `actions[${index}]`)
  checkWaits(actions)
  return {
    ...{ url, screenshot, actions: actions.map(withTimeout) },
    snapshot_tokens: snapshot?.max_tokens ?? null,
    wait_until: waitUntil,
    timeout_ms: timeoutMs,
    width: viewport?.width ?? viewportWidth.default,
    height: viewport?.height ?? viewportHeight.default,
    profile: profile ?? null,
  }
}

const requireUrl = (guard: Pick<SsrfGuard, 'check'>, url: string): void => {
  if (!['http:', 'https:'].includes(URL.parse(url)?.protocol ?? ''))
    throw new ServiceError('invalid_url', { param: 'url' })
  try {
    guard.check(url)
  } catch (error) {
    if (error instanceof SsrfRefused) throw new ServiceError('unsafe_url', { param: 'url', cause: error })
    throw error
  }
}

/** Fields that each type of action requires. */
const needs: Readonly<Record<BrowserAction['type'], readonly (keyof BrowserAction)[]>> = {
  click: ['selector'],
  type: ['selector', 'text'],
  press: ['key'],
  select: ['selector', 'values'],
  waitFor: [],
  handOver: [],
}

const withTimeout = (action: BrowserAction): BrowserAction =>
  action.type === 'handOver' ? { ...action, timeoutMs: handOverMs(action) } : action

const handOverMs = ({ type, timeoutMs = handOverTimeoutMs.default }: BrowserAction): number =>
  type === 'handOver' ? timeoutMs : 0

/** Limits the total time for which a job may wait for people, since it occupies a browser for that time. */
const checkWaits = (actions: readonly BrowserAction[]): void => {
  let waitsMs = 0
  for (const [index, action] of actions.entries()) {
    waitsMs += handOverMs(action)
    if (waitsMs <= maxHandOverMs) continue
    const message = 'A job can wait for people for at most 20 minutes in total.'
    throw new ServiceError('invalid_browser_action', { param: `actions[${index}].timeoutMs`, message })
  }
}

const checkAction = (action: BrowserAction, param: string): void => {
  const { type, selector, milliseconds, message, timeoutMs } = action
  const refuse = (field: string, why: string): never => {
    throw new ServiceError('invalid_browser_action', { param: `${param}.${field}`, message: why })
  }
  const missing = needs[type].find((field) => action[field] === undefined)
  if (missing !== undefined) refuse(missing, `The action ${type} requires ${missing}.`)
  if (type === 'waitFor' && (selector === undefined) === (milliseconds === undefined))
    refuse('selector', 'The action waitFor requires either selector or milliseconds.')
  if (type !== 'handOver' && message !== undefined) refuse('message', 'Only the action handOver accepts message.')
  if (type !== 'handOver' && timeoutMs !== undefined) refuse('timeoutMs', 'Only the action handOver accepts timeoutMs.')
  if (type === 'handOver' && selector !== undefined) refuse('selector', 'The action handOver does not accept selector.')
  if (selector === undefined) return
  if (selector.includes('>>') || /^\s*(?:\/\/|\(\/|xpath=|text=|css=|internal:)/i.test(selector))
    refuse('selector', 'selector must be a CSS selector.')
  if (isSecretName(selector)) refuse('selector', 'Fields for passwords, secrets and tokens cannot be used.')
}
