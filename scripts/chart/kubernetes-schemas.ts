import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parseAllDocuments } from 'yaml'
import { installPythonPackages } from '../services/python-packages.ts'

/** Kinds of other projects, whose schemas Kubernetes does not have. */
const foreign: ReadonlySet<string> = new Set(['ServiceMonitor'])

/**
 * Validates manifests against the schemas of a version of Kubernetes, in which unknown fields are errors.
 *
 * @param manifests YAML documents
 * @param version such as `1.27.0`
 * @returns what is wrong with them, by object and field.
 */
export const faultsOf = (manifests: string, version: string): readonly string[] => {
  const folder = folderOf(version)
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
  ajv.addSchema(JSON.parse(readFileSync(join(folder, '_definitions.json'), 'utf8')))
  return parseAllDocuments(manifests).flatMap((document) => {
    const object = document.toJS()
    if (object === null || foreign.has(object.kind)) return []
    const file = join(folder, fileOf(object))
    if (!existsSync(file)) return [`${object.apiVersion} ${object.kind} is unknown to Kubernetes ${version}`]
    const schema = JSON.parse(readFileSync(file, 'utf8'))
    const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema)
    if (validate(object)) return []
    return [`${object.kind} ${object.metadata?.name}: ${ajv.errorsText(validate.errors)}`]
  })
}

const folderOf = (version: string): string => {
  const packages = installPythonPackages('kubernetes-schemas', join(import.meta.dirname, 'requirements.txt'))
  return join(packages, `kubernetes_validate/kubernetes-json-schema/v${version}-local-strict`)
}

/** `deployment-apps-v1.json`: the group without its domain. */
const fileOf = ({ kind, apiVersion }: { readonly kind: string; readonly apiVersion: string }): string => {
  const [group = '', version] = apiVersion.split('/')
  const parts = version === undefined ? [kind, group] : [kind, group.split('.')[0], version]
  return `${parts.join('-').toLowerCase()}.json`
}
