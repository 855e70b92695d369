import type { ResultOf } from '#specs/index.ts'
import { repeatedMessages } from '#specs/resources/protocols/a2a.ts'

const repeats = {
  uri: repeatedMessages,
  description: 'A message with the id of an earlier one gets its task.',
  ...{ required: false, params: {} },
}

/** The card of an agent. `base` is the URL of its A2A endpoint. */
export const a2aCard = (
  agent: { readonly id: string; readonly name: string; readonly description: string | null },
  version: string | null,
  base: string,
): ResultOf<'a2a.card'> => {
  const description = agent.description ?? agent.name
  const bound = { url: base, tenant: '' as const, protocolVersion: '1.0' as const }
  return {
    name: agent.name,
    description,
    version: version ?? '1',
    supportedInterfaces: [
      { ...bound, protocolBinding: 'JSONRPC' },
      { ...bound, protocolBinding: 'HTTP+JSON' },
    ],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false, extensions: [repeats] },
    securitySchemes: {
      key: { httpAuthSecurityScheme: { scheme: 'bearer', description: 'A secret key or a key of the agent.' } },
    },
    securityRequirements: [{ schemes: { key: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: agent.id,
        name: agent.name,
        description,
        tags: ['agent'],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  }
}
