import type { CDPSession, Page } from 'playwright'
import { isObject } from '#runtime/index.ts'
import { isSecretName } from '#specs/resources/web/secret-selectors.ts'
import type { Json } from '#storage/index.ts'
import { isDoneWithin } from './done-within.ts'
import { parsedJson } from './schema.ts'
import { naming, secretPurposes } from './secret-fields.ts'

/** Maximum number of frames and fields that are examined, and length of a name; pages stay below these. */
const max = { frames: 50, fields: 5_000, name: 200 } as const
/** Time in ms after which a page whose fields cannot be read is not shown. */
const readMs = 5_000

type Change = 'mask' | 'empty'

/**
 * Masks the values of secret fields with dots from now on, also in pictures, whatever the page's styles.
 *
 * @returns whether it succeeded; never rejects
 */
export const maskSecretFields = (page: Page): Promise<boolean> => isDoneWithin(readMs, changed(page, 'mask'))

/** Empties secret fields, unnoticed by the page's scripts. @returns whether it succeeded; never rejects */
export const emptySecretFields = (page: Page): Promise<boolean> => isDoneWithin(readMs, changed(page, 'empty'))

/** Applies a change in all frames. Frames of other sites run in their own processes and need their own sessions. */
const changed = async (page: Page, change: Change): Promise<void> => {
  await inSession(await page.context().newCDPSession(page), change)
  for (const frame of page.frames().slice(1, max.frames)) {
    const own = await page
      .context()
      .newCDPSession(frame)
      .catch(() => null)
    if (own !== null) await inSession(own, change)
  }
}

const inSession = async (session: CDPSession, change: Change): Promise<void> => {
  try {
    const { frameTree } = await session.send('Page.getFrameTree')
    for (const frameId of framesOf(frameTree).slice(0, max.frames)) await inFrame(session, frameId, change)
  } finally {
    await session.detach().catch(() => {})
  }
}

interface Tree {
  readonly frame: { readonly id: string }
  readonly childFrames?: readonly Tree[]
}

const framesOf = ({ frame, childFrames = [] }: Tree): readonly string[] => [frame.id, ...childFrames.flatMap(framesOf)]

/** Applies a change in a frame, in an isolated world that the page's scripts cannot influence. */
const inFrame = async (session: CDPSession, frameId: string, change: Change): Promise<void> => {
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId })
  const run = async (expression: string): Promise<string> => {
    const { result } = await session.send('Runtime.evaluate', { expression, contextId, returnByValue: true })
    return String(result.value ?? '')
  }
  const fields = parsedJson(await run(`(${fieldsOfPage})(${JSON.stringify(naming)})`))
  const secret = (Array.isArray(fields) ? fields : []).flatMap((field, at) => (takesSecret(field) ? [at] : []))
  if (secret.length > 0) await run(`(${changeFields})(${JSON.stringify(secret)}, ${JSON.stringify(change)})`)
}

/** Whether a field is for a secret, by its type, purpose and names. */
const takesSecret = (field: Json): boolean => {
  if (!isObject(field)) return false
  const { type, purpose, names } = field
  const isNamed = Array.isArray(names) && names.some((name) => isSecretName(String(name)))
  return type === 'password' || secretPurposes.test(String(purpose)) || isNamed
}

/** Runs in the page: its fields in tree order, including those in shadow trees. */
const allFields = `const all = () => {
  const found = []
  const visit = (node) => {
    for (const element of node.querySelectorAll('*')) {
      if (found.length >= ${max.fields}) return
      if (element.matches('input, textarea')) found.push(element)
      if (element.shadowRoot) visit(element.shadowRoot)
    }
  }
  visit(document)
  return found
}`

const fieldsOfPage = `(naming) => {
  ${allFields}
  const attribute = (field, name) => String(field.getAttribute(name) ?? '').slice(0, ${max.name})
  return JSON.stringify(all().map((field) => ({
    type: attribute(field, 'type').trim().toLowerCase(),
    purpose: attribute(field, 'autocomplete'),
    names: naming.map((name) => attribute(field, name)).filter((name) => name !== ''),
  })))
}`

const changeFields = `(places, change) => {
  ${allFields}
  const fields = all()
  for (const place of places) {
    const field = fields[place]
    if (field === undefined) continue
    if (change === 'empty') field.value = ''
    else field.style.setProperty('-webkit-text-security', 'disc', 'important')
  }
}`
