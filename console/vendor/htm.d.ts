import type { Attributes, ComponentChildren, ComponentType, VNode } from 'preact'
type Make = (type: ComponentType | string, props: Attributes | null, ...children: ComponentChildren[]) => VNode
declare const htm: { bind(make: Make): (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode }
export default htm
