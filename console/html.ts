import { turns } from './parts/turned-text.ts'
import htm from './vendor/htm.js'
import {
  type Attributes,
  type ComponentChildren as Children,
  type ComponentType,
  h,
  type VNode,
} from './vendor/preact.js'

/** Elements that can contain only text. */
const plain = ['option', 'textarea', 'title', 'text']

/** Wraps texts with direction control characters in `bdi`, so that they do not affect their surroundings. */
const isolated = (child: Children): Children =>
  Array.isArray(child) ? child.map(isolated) : turns(child) ? h('bdi', null, child) : child

const element = (type: ComponentType | string, props: Attributes | null, ...children: Children[]): VNode =>
  h(type, props, ...(typeof type === 'string' && plain.includes(type) ? children : children.map(isolated)))

/** A template of elements and components. */
export const html = htm.bind(element)

export { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from './vendor/hooks.js'
export { render } from './vendor/preact.js'

/** Returns a listener that passes the field's value to `set`. */
export const typed =
  (set: (text: string) => void) =>
  ({ currentTarget }: Event) => {
    if (
      currentTarget instanceof HTMLInputElement ||
      currentTarget instanceof HTMLTextAreaElement ||
      currentTarget instanceof HTMLSelectElement
    )
      set(currentTarget.value)
  }
