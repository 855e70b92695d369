import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'

interface EnvEntry {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string }
    readonly fieldRef?: { readonly fieldPath: string }
  }
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

/** A manifest, as far as tests read it. */
export interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: ReturnType<typeof JSON.parse>
}

/** The container of a pod, as the chart renders it. */
export interface Container {
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env: readonly EnvEntry[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
}

/** The manifests that the chart renders for an example of values. */
export const manifestsOf = (example: string): readonly Manifest[] =>
  parseAllDocuments(readFileSync(`deploy/kubernetes/${example}.yaml`, 'utf8'))
    .map((document) => document.toJS())
    .filter((document) => document !== null)

/** The deployment of an example, and its container. @throws {Error} when there is none. */
export const podOf = (example: string): { readonly deployment: Manifest; readonly container: Container } => {
  const deployment = manifestsOf(example).find(({ kind }) => kind === 'Deployment')
  if (deployment === undefined) throw new Error(`${example} has no deployment`)
  return { deployment, container: deployment.spec.template.spec.containers[0] }
}

/** The variables of a container, with these values for what comes from a secret or a field of the pod, by key or path. */
export const environmentOf = (
  { env }: Container,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    env.map(({ name, value, valueFrom }) => {
      const source = valueFrom?.secretKeyRef?.key ?? valueFrom?.fieldRef?.fieldPath ?? ''
      return [name, value ?? given[source] ?? '']
    }),
  )
