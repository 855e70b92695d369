import type { Frame, Page } from 'playwright'
import { isSecretName } from '#specs/resources/web/secret-selectors.ts'
import { naming, secretPurposes } from './secret-fields.ts'

/** Frames and fields that are looked at; a page has fewer. */
const most = { frames: 50, fields: 5_000 } as const

/** What fields of secrets show stands as dots from now on, in pictures too, however the page shows it. */
export const maskSecretFields = (page: Page): Promise<void> => inFrames(page, 'mask')

/** Fields of secrets are empty from now on. The page's scripts do not hear of it. */
export const emptySecretFields = (page: Page): Promise<void> => inFrames(page, 'empty')

const inFrames = async (page: Page, what: 'mask' | 'empty'): Promise<void> => {
  for (const frame of page.frames().slice(0, most.frames)) await inFrame(frame, what).catch(() => {})
}

const inFrame = async (frame: Frame, what: 'mask' | 'empty'): Promise<void> => {
  const named = await frame.evaluate<readonly Field[]>(`(${fieldsOfPage})(${JSON.stringify(naming)}, ${most.fields})`)
  const secret = named.flatMap((field, at) => (takesSecret(field) ? [at] : []))
  if (secret.length > 0)
    await frame.evaluate(`(${changeFields})(${JSON.stringify(secret)}, ${JSON.stringify(what)}, ${most.fields})`)
}

/** How a field says what it takes. */
interface Field {
  readonly type: string
  readonly purpose: string
  readonly names: readonly string[]
}

const takesSecret = ({ type, purpose, names }: Field): boolean =>
  type === 'password' || secretPurposes.test(purpose) || names.some(isSecretName)

/** Runs in the page: its fields, inside of components too, in the order of the tree. */
const allFields = `const all = (root, most) => {
  const found = []
  const visit = (node) => {
    for (const element of node.querySelectorAll('*')) {
      if (found.length >= most) return
      if (element.matches('input, textarea')) found.push(element)
      if (element.shadowRoot) visit(element.shadowRoot)
    }
  }
  visit(root)
  return found
}`

const fieldsOfPage = `(naming, most) => {
  ${allFields}
  return all(document, most).map((field) => ({
    type: String(field.getAttribute('type') ?? '').trim().toLowerCase(),
    purpose: String(field.getAttribute('autocomplete') ?? ''),
    names: naming.map((name) => String(field.getAttribute(name) ?? '')).filter((name) => name !== ''),
  }))
}`

const changeFields = `(places, what, most) => {
  ${allFields}
  const fields = all(document, most)
  for (const place of places) {
    const field = fields[place]
    if (field === undefined) continue
    if (what === 'empty') field.value = ''
    else field.style.setProperty('-webkit-text-security', 'disc', 'important')
  }
}`
