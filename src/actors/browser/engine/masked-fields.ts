import type { CDPSession, Page } from 'playwright'
import { isObject } from '#runtime/schema.ts'
import { isSecretName } from '#specs/resources/web/secret-selectors.ts'
import type { Json } from '#storage/ports.ts'
import { isDoneWithin } from './done-within.ts'
import { parsedJson } from './schema.ts'
import { naming, secretPurposes } from './secret-fields.ts'

/** Frames and fields that are looked at; a page has fewer. */
const most = { frames: 50, fields: 5_000, name: 200 } as const
/** A page that does not let its fields be read by then is not shown, in ms. */
const readMs = 5_000

type Change = 'mask' | 'empty'

/** What fields of secrets show stands as dots from now on, in pictures too, however the page shows it. @returns whether it does; never rejects */
export const maskSecretFields = (page: Page): Promise<boolean> => isDoneWithin(readMs, changed(page, 'mask'))

/** Fields of secrets are empty from now on. The page's scripts do not hear of it. @returns whether they are; never rejects */
export const emptySecretFields = (page: Page): Promise<boolean> => isDoneWithin(readMs, changed(page, 'empty'))

/** Frames of other sites have a process, and so a session, of their own. */
const changed = async (page: Page, change: Change): Promise<void> => {
  await inSession(await page.context().newCDPSession(page), change)
  for (const frame of page.frames().slice(1, most.frames)) {
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
    for (const frameId of framesOf(frameTree).slice(0, most.frames)) await inFrame(session, frameId, change)
  } finally {
    await session.detach().catch(() => {})
  }
}

interface Tree {
  readonly frame: { readonly id: string }
  readonly childFrames?: readonly Tree[]
}

const framesOf = ({ frame, childFrames = [] }: Tree): readonly string[] => [frame.id, ...childFrames.flatMap(framesOf)]

/** In a world of its own, where the page's scripts change nothing. */
const inFrame = async (session: CDPSession, frameId: string, change: Change): Promise<void> => {
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId })
  const run = async (expression: string): Promise<string> => {
    const { result } = await session.send('Runtime.evaluate', { expression, contextId, returnByValue: true })
    return String(result.value ?? '')
  }
  const said = parsedJson(await run(`(${fieldsOfPage})(${JSON.stringify(naming)})`))
  const secret = (Array.isArray(said) ? said : []).flatMap((field, at) => (takesSecret(field) ? [at] : []))
  if (secret.length > 0) await run(`(${changeFields})(${JSON.stringify(secret)}, ${JSON.stringify(change)})`)
}

/** How a field says what it takes: type, purpose and names. */
const takesSecret = (field: Json): boolean => {
  if (!isObject(field)) return false
  const { type, purpose, names } = field
  const isNamed = Array.isArray(names) && names.some((name) => isSecretName(String(name)))
  return type === 'password' || secretPurposes.test(String(purpose)) || isNamed
}

/** Runs in the page: its fields, inside of components too, in the order of the tree. */
const allFields = `const all = () => {
  const found = []
  const visit = (node) => {
    for (const element of node.querySelectorAll('*')) {
      if (found.length >= ${most.fields}) return
      if (element.matches('input, textarea')) found.push(element)
      if (element.shadowRoot) visit(element.shadowRoot)
    }
  }
  visit(document)
  return found
}`

const fieldsOfPage = `(naming) => {
  ${allFields}
  const said = (field, name) => String(field.getAttribute(name) ?? '').slice(0, ${most.name})
  return JSON.stringify(all().map((field) => ({
    type: said(field, 'type').trim().toLowerCase(),
    purpose: said(field, 'autocomplete'),
    names: naming.map((name) => said(field, name)).filter((name) => name !== ''),
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
