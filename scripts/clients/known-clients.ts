import type { ClientCheck } from './client-check.ts'
import { compiledSdks, otherCompiledClients } from './compiled-sdks.ts'
import { generators } from './generators.ts'
import { currentNode, everyMajor } from './node-majors.ts'
import { openapiGeneratorClients } from './openapi-generator.ts'
import { heavyPythonFrameworks, pythonFrameworks } from './python-frameworks.ts'
import { sdks } from './sdks.ts'

const { codex, 'google-genai-python': googlePython, ...smallSdks } = sdks

/**
 * Clients that install and run in seconds, by name; CI runs them. Not among them, for the CPU time that each takes: SDKs of
 * compiled languages, whose cold build takes a minute, a binary of 400 MB, other majors of the SDKs and releases of Node, the agent frameworks for
 * Python, and Google's SDK for Python. They run each night.
 */
export const quickClients: Readonly<Record<string, ClientCheck>> = { ...generators, ...smallSdks, ...currentNode }

/** Every client, by name. */
export const knownClients: Readonly<Record<string, ClientCheck>> = {
  ...quickClients,
  codex,
  'google-genai-python': googlePython,
  ...everyMajor,
  ...pythonFrameworks,
  ...compiledSdks,
  ...openapiGeneratorClients,
  ...otherCompiledClients,
  ...heavyPythonFrameworks,
}
