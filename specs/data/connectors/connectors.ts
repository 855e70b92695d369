import type { ConnectorType } from './connector-type.ts'
import { apiKey, http, mcp, oauth2 } from './generic.ts'
import { github } from './github.ts'
import { google } from './google.ts'
import { hubspot } from './hubspot.ts'
import { jira } from './jira.ts'
import { linear } from './linear.ts'
import { microsoft } from './microsoft.ts'
import { notion } from './notion.ts'
import { salesforce } from './salesforce.ts'
import { slack } from './slack.ts'
import { stripe } from './stripe.ts'

/** All connectors, in the order in which callers see them. */
export const connectorTypes: readonly ConnectorType[] = [
  ...[apiKey, oauth2, http, mcp, slack, github, google, microsoft, notion, linear, hubspot, jira, salesforce, stripe],
]

const byId = new Map(connectorTypes.map((type) => [type.id, type]))

/** Returns the connector with an id; undefined when there is none. */
export const connectorOf = (id: string): ConnectorType | undefined => byId.get(id)

/** Whether connections of a connector find their authorization server by discovery. */
export const isDiscovered = (id: string): boolean => id === mcp.id
