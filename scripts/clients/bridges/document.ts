import { parseHTML } from 'linkedom'

/** Makes a document for React, in which assistant-ui is used without a browser. @returns the element for its root */
export const openDocument = (): Element => {
  const { window, document } = parseHTML('<!doctype html><body><div id="root"></div></body>')
  Object.assign(globalThis, { window })
  Object.defineProperty(globalThis, 'document', { value: document })
  return document.body.children[0] ?? document.body
}
