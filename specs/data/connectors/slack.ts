import { connectorType, reads, text, whole, writes } from './connector-type.ts'

/** Slack. */
export const slack = connectorType({
  id: 'slack',
  name: 'Slack',
  description: 'Channels and messages of a Slack workspace.',
  auth: 'oauth2',
  base_url: 'https://slack.com/api',
  oauth: {
    authorization_url: 'https://slack.com/oauth/v2/authorize',
    token_url: 'https://slack.com/api/oauth.v2.access',
    revocation_url: 'https://slack.com/api/auth.revoke',
    issuer: null,
    scopes: ['channels:read', 'channels:history', 'chat:write', 'users:read'],
    token_auth_method: 'client_secret_post',
  },
  test: { method: 'POST', path: '/auth.test' },
  tools: [
    reads({
      name: 'slack_list_channels',
      description: 'Lists channels of the workspace.',
      path: '/conversations.list',
      takes: { 'limit?': whole('Most channels of a page.'), 'cursor?': text('Next page.') },
    }),
    reads({
      name: 'slack_read_channel',
      description: 'Returns the newest messages of a channel.',
      path: '/conversations.history',
      takes: { channel: text('Id of the channel.'), 'limit?': whole('Most messages.') },
    }),
    reads({
      name: 'slack_list_users',
      description: 'Lists people of the workspace.',
      path: '/users.list',
      takes: { 'limit?': whole('Most people of a page.'), 'cursor?': text('Next page.') },
    }),
    writes({
      name: 'slack_post_message',
      description: 'Posts a message into a channel.',
      path: '/chat.postMessage',
      takes: {
        channel: text('Id of the channel.'),
        text: text('The message.'),
        'thread_ts?': text('Message that it answers.'),
      },
    }),
  ],
})
