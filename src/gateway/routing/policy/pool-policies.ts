import { ProjectSetting } from '#actors/capability/project-setting.ts'
import type { Services } from '#actors/capability/services.ts'
import { type RoutingPolicyData, routingPolicies } from '../kinds.ts'

/** Policy of a project that never changed it. */
export const defaultPoolPolicy: RoutingPolicyData = { strategy: 'priority', sticky: true, rules: [] }

/** How the calls of projects are spread over their provider connections. */
export const poolPolicies = (parts: Pick<Services, 'records' | 'now'>) =>
  new ProjectSetting<RoutingPolicyData>(parts, {
    name: 'routing_policy',
    kind: routingPolicies,
    idPrefix: 'rtp',
    defaults: defaultPoolPolicy,
    // rows of earlier versions have no rules
    upgraded: (data) => ({ ...defaultPoolPolicy, ...data }),
  })
