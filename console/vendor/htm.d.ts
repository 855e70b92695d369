import type { h, VNode } from 'preact'
declare const htm: { bind(make: typeof h): (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode }
export default htm
