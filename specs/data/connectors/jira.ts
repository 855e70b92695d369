import { anyObject, connectorType, reads, text, texts, whole, writes } from './connector-type.ts'

/** Jira Cloud. */
export const jira = connectorType({
  id: 'jira',
  name: 'Jira',
  description: 'Issues of a Jira Cloud site. `config.settings.cloud_id` names the site.',
  auth: 'oauth2',
  base_url: 'https://api.atlassian.com/ex/jira/{cloud_id}/rest/api/3',
  settings: ['cloud_id'],
  oauth: {
    authorization_url: 'https://auth.atlassian.com/authorize',
    token_url: 'https://auth.atlassian.com/oauth/token',
    revocation_url: null,
    issuer: null,
    scopes: ['offline_access', 'read:jira-user', 'read:jira-work', 'write:jira-work'],
    token_auth_method: 'client_secret_post',
    parameters: { audience: 'api.atlassian.com', prompt: 'consent' },
  },
  test: { method: 'GET', path: '/myself' },
  tools: [
    reads({
      name: 'jira_search_issues',
      description: 'Searches issues.',
      path: '/search/jql',
      takes: {
        jql: text('Search in JQL.'),
        'maxResults?': whole('Most results.'),
        'fields?': text('Fields, by commas.'),
      },
    }),
    reads({
      name: 'jira_get_issue',
      description: 'Returns an issue.',
      path: '/issue/{key}',
      takes: { key: text('Key of the issue, such as ABC-1.') },
    }),
    writes({
      name: 'jira_create_issue',
      description: 'Creates an issue.',
      path: '/issue',
      takes: { fields: anyObject('`project`, `summary`, `issuetype` and others in the form of Jira.') },
    }),
    writes({
      name: 'jira_comment_issue',
      description: 'Comments on an issue.',
      path: '/issue/{key}/comment',
      takes: { key: text('Key of the issue.'), body: anyObject('Text in the Atlassian document format.') },
    }),
    writes({
      name: 'jira_label_issue',
      description: 'Replaces the labels of an issue.',
      method: 'PUT',
      path: '/issue/{key}',
      takes: { key: text('Key of the issue.'), fields: { type: 'object', properties: { labels: texts('Labels.') } } },
    }),
  ],
})
