{{- /* Generated from syncret.daemon.install: a change here is lost. */}}
{{- /* One map of several; of a key that several have, the last counts. */}}
{{- define "syncret.merged" -}}
{{- $all := dict }}
{{- range $map := . }}{{- range $key, $value := $map }}{{- $_ := set $all $key $value }}{{- end }}{{- end }}
{{- toJson $all }}
{{- end }}

{{- /* A text as it is, anything else as JSON. */}}
{{- define "syncret.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end -}}
{{- end }}

{{- /* What the values say: the members of an installation, which the templates are about. */}}
{{- define "syncret.installation" -}}
{{- if contains "external-secrets/external-secrets" (or $.Values.global.repository $.Values.image.repository (fail "image.repository: is missing (there is no default: push the image to a registry)")) }}
image: {{ toJson ((fail "image.repository: is that of another program (name that of syncret's image)")) }}
{{- else }}
image: {{ toJson (printf "%s:%s" (or $.Values.global.repository $.Values.image.repository (fail "image.repository: is missing (there is no default: push the image to a registry)")) (or $.Values.image.tag $.Chart.AppVersion)) }}
{{- end }}
name: {{ toJson (trunc 40 (or $.Values.fullnameOverride (ternary $.Release.Name (printf "%s-%s" $.Release.Name (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-")) (not (not (contains (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-") $.Release.Name))))) | trimSuffix "-") }}
app: {{ toJson (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-") }}
namespace: {{ toJson (or $.Values.namespaceOverride $.Release.Namespace) }}
labels: {{ toJson (include "syncret.merged" (list (dict "helm.sh/chart" (printf "%s-%s" $.Chart.Name $.Chart.Version) "app.kubernetes.io/version" $.Chart.AppVersion "app.kubernetes.io/managed-by" $.Release.Service) $.Values.commonLabels) | fromJson) }}
replicas: {{ $.Values.replicaCount | toJson }}
{{- if $.Values.scopedRBAC }}
only_namespace: {{ toJson (or $.Values.scopedNamespace (or $.Values.namespaceOverride $.Release.Namespace)) }}
{{- else }}
only_namespace: {{ toJson (or $.Values.scopedNamespace "") }}
{{- end }}
settings:
{{- if and (not (gt (int64 $.Values.replicaCount) 1)) (or $.Values.leaderElect $.Values.leaderElection.enabled (eq (include "syncret.text" (get ($.Values.extraArgs | default dict) "enable-leader-election")) "true")) }}
  leaderElection.enabled: "true"
{{- end }}
{{- if or $.Values.leaderElection.id $.Values.leaderElectionID (get ($.Values.extraArgs | default dict) "leader-election-id") }}
  leaderElection.id: {{ toJson (or $.Values.leaderElection.id $.Values.leaderElectionID (get ($.Values.extraArgs | default dict) "leader-election-id")) }}
{{- end }}
{{- if $.Values.leaderElection.namespace }}
  leaderElection.namespace: {{ $.Values.leaderElection.namespace | toJson }}
{{- end }}
{{- if or $.Values.leaderElection.leaseDuration $.Values.leaderElectionLeaseDuration }}
  leaderElection.leaseDuration: {{ toJson (or $.Values.leaderElection.leaseDuration $.Values.leaderElectionLeaseDuration) }}
{{- end }}
{{- if or $.Values.leaderElection.renew $.Values.leaderElectionRetryPeriod }}
  leaderElection.renew: {{ toJson (or $.Values.leaderElection.renew $.Values.leaderElectionRetryPeriod) }}
{{- end }}
{{- if or $.Values.controllerClass (get ($.Values.extraArgs | default dict) "controller-class") }}
  controllerClass: {{ toJson (or $.Values.controllerClass (get ($.Values.extraArgs | default dict) "controller-class")) }}
{{- end }}
{{- if or (not $.Values.processClusterStore) $.Values.scopedRBAC }}
  process.clusterStore: "false"
{{- end }}
{{- if or (not $.Values.processClusterExternalSecret) $.Values.scopedRBAC }}
  process.clusterExternalSecret: "false"
{{- end }}
{{- if or (not $.Values.processClusterPushSecret) $.Values.scopedRBAC }}
  process.clusterPushSecret: "false"
{{- end }}
{{- if or (not $.Values.processSecretStore) }}
  process.secretStore: "false"
{{- end }}
{{- if or (not $.Values.processPushSecret) }}
  process.pushSecret: "false"
{{- end }}
{{- if or (not $.Values.processClusterGenerator) }}
  process.clusterGenerator: "false"
{{- end }}
{{- if $.Values.storeRequeueInterval }}
  storeInterval: {{ $.Values.storeRequeueInterval | toJson }}
{{- end }}
{{- if $.Values.extendedMetricLabels }}
  extendedMetricLabels: "true"
{{- end }}
{{- if $.Values.metrics.listen.secure.enabled }}
  metricsTls.enabled: "true"
{{- end }}
{{- if $.Values.metrics.listen.secure.enabled }}
  metricsTls.certDir: {{ $.Values.metrics.listen.secure.certDir | toJson }}
{{- end }}
{{- if $.Values.metrics.listen.secure.enabled }}
  metricsTls.certName: {{ $.Values.metrics.listen.secure.certFile | toJson }}
{{- end }}
{{- if $.Values.metrics.listen.secure.enabled }}
  metricsTls.keyName: {{ $.Values.metrics.listen.secure.keyFile | toJson }}
{{- end }}
{{- if $.Values.metrics.listen.auth.enabled }}
{{- if $.Values.metrics.listen.secure.enabled }}
  metricsAuth: "true"
{{- else }}
  metricsAuth: {{ toJson ((fail "metrics.listen.auth.enabled: needs metrics.listen.secure.enabled (a token must not travel in the clear)")) }}
{{- end }}
{{- end }}
{{- if $.Values.observe }}
  observe: "true"
{{- end }}
{{- if $.Values.migration.namespace }}
  migration.namespace: {{ $.Values.migration.namespace | toJson }}
{{- end }}
{{- if $.Values.migration.force }}
  migration.force: "true"
{{- end }}
{{- if $.Values.apiWrites }}
  apiWrites: {{ toJson (include "syncret.text" $.Values.apiWrites) }}
{{- end }}
{{- if $.Values.externalSecretFinalizer }}
  externalSecretFinalizer: {{ $.Values.externalSecretFinalizer | toJson }}
{{- end }}
{{- if get ($.Values.ownIdentity | default dict) "mode" }}
  ownIdentity.mode: {{ toJson (include "syncret.text" (get ($.Values.ownIdentity | default dict) "mode")) }}
{{- end }}
{{- if get ($.Values.ownIdentity | default dict) "receivers" }}
  ownIdentity.receivers: {{ toJson (include "syncret.text" (get ($.Values.ownIdentity | default dict) "receivers")) }}
{{- end }}
{{- if get ($.Values.ownIdentity | default dict) "clusterOnly" }}
  ownIdentity.clusterOnly: {{ toJson (include "syncret.text" (get ($.Values.ownIdentity | default dict) "clusterOnly")) }}
{{- end }}
{{- if get ((get ($.Values.ownIdentity | default dict) "azure") | default dict) "exportNamespaces" }}
  ownIdentity.azure.exportNamespaces: {{ toJson (include "syncret.text" (get ((get ($.Values.ownIdentity | default dict) "azure") | default dict) "exportNamespaces")) }}
{{- end }}
{{- if not (kindIs "invalid" $.Values.egress.allow) }}
  egress.allow: {{ toJson (toJson $.Values.egress.allow) }}
{{- end }}
{{- if not (kindIs "invalid" $.Values.egress.deny) }}
  egress.deny: {{ toJson (toJson $.Values.egress.deny) }}
{{- end }}
{{- if not $.Values.exports.enabled }}
  exports.groups: "[]"
{{- else }}
{{- if $.Values.exports.groups }}
  exports.groups: {{ toJson (toJson $.Values.exports.groups) }}
{{- end }}
{{- end }}
{{- if $.Values.exports.refreshInterval }}
  exports.refreshInterval: {{ $.Values.exports.refreshInterval | toJson }}
{{- end }}
{{- if $.Values.manifestFiles }}
  manifestFiles: {{ toJson (toJson $.Values.manifestFiles) }}
{{- end }}
{{- if $.Values.workTime }}
  workTime: {{ $.Values.workTime | toJson }}
{{- end }}
{{- if $.Values.workMemory }}
  workMemory: {{ toJson (include "syncret.text" $.Values.workMemory) }}
{{- end }}
{{- if $.Values.storeWaits }}
  storeWaits: {{ toJson (include "syncret.text" $.Values.storeWaits) }}
{{- end }}
flags: {{ toJson (include "syncret.merged" (list (dict "loglevel" $.Values.log.level "zap-time-encoding" $.Values.log.timeEncoding) (omit ($.Values.extraArgs | default dict) "enable-leader-election" "leader-election-id" "controller-class")) | fromJson) }}
{{- if $.Values.genericTargets.enabled }}
generic_targets:
  - group: ""
    resources:
      - configmaps
{{- range $key0, $value0 := $.Values.genericTargets.resources }}
  - group: {{ $value0.apiGroup | toJson }}
    resources: {{ $value0.resources | toJson }}
{{- end }}
{{- else }}
generic_targets: []
{{- end }}
{{- if $.Values.exports.enabled }}
exporting_groups: {{ toJson (or $.Values.exports.groups (list "alertsmanagement.azure.com" "apimanagement.azure.com" "app.azure.com" "appconfiguration.azure.com" "authorization.azure.com" "automation.azure.com" "batch.azure.com" "cache.azure.com" "cdn.azure.com" "cognitiveservices.azure.com" "communication.azure.com" "compute.azure.com" "containerinstance.azure.com" "containerregistry.azure.com" "containerservice.azure.com" "dataprotection.azure.com" "dbformariadb.azure.com" "dbformysql.azure.com" "dbforpostgresql.azure.com" "devices.azure.com" "documentdb.azure.com" "entra.azure.com" "eventgrid.azure.com" "eventhub.azure.com" "insights.azure.com" "keyvault.azure.com" "kubernetesconfiguration.azure.com" "kusto.azure.com" "machinelearningservices.azure.com" "managedidentity.azure.com" "monitor.azure.com" "network.azure.com" "network.frontdoor.azure.com" "notificationhubs.azure.com" "operationalinsights.azure.com" "redhatopenshift.azure.com" "resources.azure.com" "search.azure.com" "servicebus.azure.com" "signalrservice.azure.com" "sql.azure.com" "storage.azure.com" "subscription.azure.com" "synapse.azure.com" "web.azure.com")) }}
{{- else }}
exporting_groups: []
{{- end }}
port: {{ $.Values.metrics.listen.port | toJson }}
{{- if or $.Values.livenessProbe.enabled $.Values.readinessProbe.enabled }}
{{- if kindIs "string" $.Values.livenessProbe.spec.httpGet.port }}
health_port: {{ $.Values.livenessProbe.spec.port | toJson }}
{{- else }}
health_port: {{ $.Values.livenessProbe.spec.httpGet.port | toJson }}
{{- end }}
{{- else }}
health_port: 0
{{- end }}
service_account:
  create: {{ $.Values.serviceAccount.create | toJson }}
  name: {{ toJson (or $.Values.serviceAccount.name (ternary "" "default" (not (not $.Values.serviceAccount.create)))) }}
  labels: {{ toJson (or $.Values.serviceAccount.extraLabels dict) }}
  annotations: {{ toJson (or $.Values.serviceAccount.annotations dict) }}
  automount: {{ $.Values.serviceAccount.automount | toJson }}
rbac:
  create: {{ $.Values.rbac.create | toJson }}
  tokens: {{ $.Values.rbac.serviceAccountTokenCreate | toJson }}
  finalizers: {{ $.Values.openshiftFinalizers | toJson }}
  reviews: {{ toJson (not (not (or $.Values.systemAuthDelegator $.Values.metrics.listen.auth.enabled))) }}
  view: {{ $.Values.rbac.aggregateToView | toJson }}
  edit: {{ $.Values.rbac.aggregateToEdit | toJson }}
  admin: {{ $.Values.rbac.aggregateToAdmin | toJson }}
  service_bindings: {{ $.Values.rbac.servicebindings.create | toJson }}
pod:
  labels: {{ toJson (or (or $.Values.podLabels $.Values.global.podLabels) dict) }}
  annotations: {{ toJson (or (or $.Values.podAnnotations $.Values.global.podAnnotations) dict) }}
  pull_policy: {{ $.Values.image.pullPolicy | toJson }}
  pull_secrets:
{{- range $key0, $value0 := or $.Values.imagePullSecrets $.Values.global.imagePullSecrets }}
    - {{ $value0.name | toJson }}
{{- end }}
  resources: {{ toJson (or $.Values.resources dict) }}
{{- if $.Values.podSecurityContext.enabled }}
{{- if or (eq $.Values.global.compatibility.openshift.adaptSecurityContext "force") (and (eq $.Values.global.compatibility.openshift.adaptSecurityContext "auto") ($.Capabilities.APIVersions.Has "security.openshift.io/v1")) }}
  security_context: {{ toJson (omit ($.Values.podSecurityContext | default dict) "enabled" "fsGroup" "runAsUser" "runAsGroup") }}
{{- else }}
  security_context: {{ toJson (omit ($.Values.podSecurityContext | default dict) "enabled") }}
{{- end }}
{{- else }}
  security_context: {}
{{- end }}
{{- if $.Values.securityContext.enabled }}
{{- if or (eq $.Values.global.compatibility.openshift.adaptSecurityContext "force") (and (eq $.Values.global.compatibility.openshift.adaptSecurityContext "auto") ($.Capabilities.APIVersions.Has "security.openshift.io/v1")) }}
  container_security_context: {{ toJson (omit ($.Values.securityContext | default dict) "enabled" "fsGroup" "runAsUser" "runAsGroup") }}
{{- else }}
  container_security_context: {{ toJson (omit ($.Values.securityContext | default dict) "enabled") }}
{{- end }}
{{- else }}
  container_security_context: {}
{{- end }}
  env: {{ toJson (or $.Values.extraEnv list) }}
  volumes: {{ toJson (or $.Values.extraVolumes list) }}
  volume_mounts: {{ toJson (or $.Values.extraVolumeMounts list) }}
  init_containers: {{ toJson (or $.Values.extraInitContainers list) }}
  spread: {{ toJson (or (or $.Values.topologySpreadConstraints $.Values.global.topologySpreadConstraints) list) }}
  spec:
{{- if or $.Values.nodeSelector $.Values.global.nodeSelector }}
    nodeSelector: {{ toJson (or $.Values.nodeSelector $.Values.global.nodeSelector) }}
{{- end }}
{{- if or $.Values.tolerations $.Values.global.tolerations }}
    tolerations: {{ toJson (or $.Values.tolerations $.Values.global.tolerations) }}
{{- end }}
{{- if or $.Values.affinity $.Values.global.affinity }}
    affinity: {{ toJson (or $.Values.affinity $.Values.global.affinity) }}
{{- end }}
{{- if or $.Values.hostAliases $.Values.global.hostAliases }}
    hostAliases: {{ toJson (or $.Values.hostAliases $.Values.global.hostAliases) }}
{{- end }}
{{- if $.Values.priorityClassName }}
    priorityClassName: {{ $.Values.priorityClassName | toJson }}
{{- end }}
{{- if $.Values.schedulerName }}
    schedulerName: {{ $.Values.schedulerName | toJson }}
{{- end }}
{{- if $.Values.runtimeClassName }}
    runtimeClassName: {{ $.Values.runtimeClassName | toJson }}
{{- end }}
{{- if $.Values.hostNetwork }}
    hostNetwork: true
{{- end }}
{{- if not (kindIs "invalid" $.Values.hostUsers) }}
    hostUsers: {{ $.Values.hostUsers | toJson }}
{{- end }}
{{- if $.Values.dnsPolicy }}
    dnsPolicy: {{ $.Values.dnsPolicy | toJson }}
{{- end }}
{{- if $.Values.dnsConfig }}
    dnsConfig: {{ $.Values.dnsConfig | toJson }}
{{- end }}
{{- with $.Values.podSpecExtra }}
{{- toYaml . | nindent 4 }}
{{- end }}
{{- if $.Values.livenessProbe.enabled }}
  liveness: {{ toJson (omit ($.Values.livenessProbe.spec | default dict) "address" "port") }}
{{- else }}
  liveness: null
{{- end }}
{{- if $.Values.readinessProbe.enabled }}
  readiness: {{ toJson (omit ($.Values.readinessProbe.spec | default dict) "address" "port") }}
{{- else }}
  readiness: null
{{- end }}
  containers: {{ toJson (or $.Values.extraContainers list) }}
deployment:
  create: {{ $.Values.createOperator | toJson }}
  name: {{ toJson (printf "%s-controller" (trunc 40 (or $.Values.fullnameOverride (ternary $.Release.Name (printf "%s-%s" $.Release.Name (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-")) (not (not (contains (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-") $.Release.Name))))) | trimSuffix "-")) }}
  container: syncret
  annotations: {{ toJson (or $.Values.deploymentAnnotations dict) }}
  revision_history_limit: {{ $.Values.revisionHistoryLimit | toJson }}
  strategy: {{ toJson (or $.Values.strategy dict) }}
ip_family_policy: {{ toJson (or $.Values.service.ipFamilyPolicy "") }}
ip_families: {{ toJson (or $.Values.service.ipFamilies list) }}
{{- if or $.Values.metrics.service.enabled (and $.Values.serviceMonitor.enabled (or (eq $.Values.serviceMonitor.renderMode "alwaysRender") ($.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/ServiceMonitor"))) }}
metrics_service:
  port: {{ $.Values.metrics.service.port | toJson }}
  annotations: {{ toJson (or $.Values.metrics.service.annotations dict) }}
{{- else }}
metrics_service: null
{{- end }}
{{- if $.Values.podDisruptionBudget.enabled }}
disruption_budget:
  name: {{ toJson (or $.Values.podDisruptionBudget.nameOverride (printf "%s-pdb" (trunc 40 (or $.Values.fullnameOverride (ternary $.Release.Name (printf "%s-%s" $.Release.Name (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-")) (not (not (contains (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-") $.Release.Name))))) | trimSuffix "-"))) }}
  min_available: {{ $.Values.podDisruptionBudget.minAvailable | toJson }}
  max_unavailable: {{ $.Values.podDisruptionBudget.maxUnavailable | toJson }}
{{- else }}
disruption_budget: null
{{- end }}
{{- if $.Values.networkPolicy.enabled }}
network_policy:
{{- if $.Values.networkPolicy.ingress }}
  ingress:
{{- with $.Values.networkPolicy.ingress }}
{{- toYaml . | nindent 4 }}
{{- end }}
{{- if $.Values.webhook.create }}
    - ports:
        - protocol: TCP
          port: {{ $.Values.webhook.port | toJson }}
{{- end }}
{{- else }}
  ingress: []
{{- end }}
  egress: {{ toJson (or $.Values.networkPolicy.egress list) }}
{{- else }}
network_policy: null
{{- end }}
{{- if and $.Values.serviceMonitor.enabled (or (eq $.Values.serviceMonitor.renderMode "alwaysRender") ($.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/ServiceMonitor")) }}
service_monitor:
  labels: {{ toJson (or $.Values.serviceMonitor.additionalLabels dict) }}
  namespace: {{ toJson (or $.Values.serviceMonitor.namespace "") }}
  interval: {{ $.Values.serviceMonitor.interval | toJson }}
  scrape_timeout: {{ $.Values.serviceMonitor.scrapeTimeout | toJson }}
  endpoint:
    honorLabels: {{ toJson (not (not $.Values.serviceMonitor.honorLabels)) }}
{{- if $.Values.serviceMonitor.metricRelabelings }}
    metricRelabelings: {{ $.Values.serviceMonitor.metricRelabelings | toJson }}
{{- end }}
{{- if $.Values.serviceMonitor.relabelings }}
    relabelings: {{ $.Values.serviceMonitor.relabelings | toJson }}
{{- end }}
{{- if $.Values.metrics.listen.secure.enabled }}
    scheme: https
{{- end }}
{{- if $.Values.metrics.listen.secure.enabled }}
    tlsConfig:
      serverName: {{ toJson (printf "%s-metrics.%s.svc" (trunc 40 (or $.Values.fullnameOverride (ternary $.Release.Name (printf "%s-%s" $.Release.Name (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-")) (not (not (contains (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-") $.Release.Name))))) | trimSuffix "-") (or $.Values.namespaceOverride $.Release.Namespace)) }}
{{- end }}
{{- if $.Values.metrics.listen.auth.enabled }}
    authorization:
      type: Bearer
      credentials:
        name: {{ toJson (printf "%s-token" (or $.Values.serviceAccount.name (trunc 40 (or $.Values.fullnameOverride (ternary $.Release.Name (printf "%s-%s" $.Release.Name (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-")) (not (not (contains (trunc 40 (or $.Values.nameOverride "syncret") | trimSuffix "-") $.Release.Name))))) | trimSuffix "-"))) }}
        key: token
{{- end }}
{{- else }}
{{- if and $.Values.serviceMonitor.enabled (eq $.Values.serviceMonitor.renderMode "failIfMissing") }}
service_monitor: {{ toJson ((fail "serviceMonitor.enabled: needs the CRD of ServiceMonitor (install the Prometheus operator first)")) }}
{{- else }}
service_monitor: null
{{- end }}
{{- end }}
{{- if $.Values.grafanaDashboard.enabled }}
dashboard:
  labels: {{ toJson (include "syncret.merged" (list (dict $.Values.grafanaDashboard.sidecarLabel $.Values.grafanaDashboard.sidecarLabelValue) $.Values.grafanaDashboard.extraLabels) | fromJson) }}
  annotations: {{ toJson (or $.Values.grafanaDashboard.annotations dict) }}
{{- else }}
dashboard: null
{{- end }}
{{- if $.Values.webhook.create }}
webhook:
  failure_policy: {{ $.Values.webhook.failurePolicy | toJson }}
  port: {{ $.Values.webhook.port | toJson }}
  annotations: {{ toJson (or $.Values.webhook.annotations dict) }}
  secret_annotations: {{ toJson (or $.Values.webhook.secretAnnotations dict) }}
  separate: {{ $.Values.webhook.separate | toJson }}
  replicas: {{ $.Values.webhook.replicaCount | toJson }}
{{- if $.Values.webhook.separate }}
  pod:
    labels: {{ toJson (or (or $.Values.webhook.podLabels $.Values.global.podLabels) dict) }}
    annotations: {{ toJson (or (or $.Values.webhook.podAnnotations $.Values.global.podAnnotations) dict) }}
    pull_policy: {{ $.Values.image.pullPolicy | toJson }}
    pull_secrets:
{{- range $key0, $value0 := or $.Values.webhook.imagePullSecrets $.Values.global.imagePullSecrets }}
      - {{ $value0.name | toJson }}
{{- end }}
    resources: {{ toJson (or $.Values.webhook.resources dict) }}
{{- if $.Values.webhook.podSecurityContext.enabled }}
{{- if or (eq $.Values.global.compatibility.openshift.adaptSecurityContext "force") (and (eq $.Values.global.compatibility.openshift.adaptSecurityContext "auto") ($.Capabilities.APIVersions.Has "security.openshift.io/v1")) }}
    security_context: {{ toJson (omit ($.Values.webhook.podSecurityContext | default dict) "enabled" "fsGroup" "runAsUser" "runAsGroup") }}
{{- else }}
    security_context: {{ toJson (omit ($.Values.webhook.podSecurityContext | default dict) "enabled") }}
{{- end }}
{{- else }}
    security_context: {}
{{- end }}
{{- if $.Values.webhook.securityContext.enabled }}
{{- if or (eq $.Values.global.compatibility.openshift.adaptSecurityContext "force") (and (eq $.Values.global.compatibility.openshift.adaptSecurityContext "auto") ($.Capabilities.APIVersions.Has "security.openshift.io/v1")) }}
    container_security_context: {{ toJson (omit ($.Values.webhook.securityContext | default dict) "enabled" "fsGroup" "runAsUser" "runAsGroup") }}
{{- else }}
    container_security_context: {{ toJson (omit ($.Values.webhook.securityContext | default dict) "enabled") }}
{{- end }}
{{- else }}
    container_security_context: {}
{{- end }}
    env: {{ toJson (or $.Values.webhook.extraEnv list) }}
    volumes: {{ toJson (or $.Values.webhook.extraVolumes list) }}
    volume_mounts: {{ toJson (or $.Values.webhook.extraVolumeMounts list) }}
    init_containers: {{ toJson (or $.Values.webhook.extraInitContainers list) }}
    spread: {{ toJson (or (or $.Values.webhook.topologySpreadConstraints $.Values.global.topologySpreadConstraints) list) }}
    spec:
{{- if or $.Values.webhook.nodeSelector $.Values.global.nodeSelector }}
      nodeSelector: {{ toJson (or $.Values.webhook.nodeSelector $.Values.global.nodeSelector) }}
{{- end }}
{{- if or $.Values.webhook.tolerations $.Values.global.tolerations }}
      tolerations: {{ toJson (or $.Values.webhook.tolerations $.Values.global.tolerations) }}
{{- end }}
{{- if or $.Values.webhook.affinity $.Values.global.affinity }}
      affinity: {{ toJson (or $.Values.webhook.affinity $.Values.global.affinity) }}
{{- end }}
{{- if or $.Values.webhook.hostAliases $.Values.global.hostAliases }}
      hostAliases: {{ toJson (or $.Values.webhook.hostAliases $.Values.global.hostAliases) }}
{{- end }}
{{- if $.Values.webhook.priorityClassName }}
      priorityClassName: {{ $.Values.webhook.priorityClassName | toJson }}
{{- end }}
{{- if $.Values.webhook.schedulerName }}
      schedulerName: {{ $.Values.webhook.schedulerName | toJson }}
{{- end }}
{{- if $.Values.webhook.runtimeClassName }}
      runtimeClassName: {{ $.Values.webhook.runtimeClassName | toJson }}
{{- end }}
{{- if $.Values.webhook.hostNetwork }}
      hostNetwork: true
{{- end }}
{{- if not (kindIs "invalid" $.Values.webhook.hostUsers) }}
      hostUsers: {{ $.Values.webhook.hostUsers | toJson }}
{{- end }}
{{- if $.Values.dnsPolicy }}
      dnsPolicy: {{ $.Values.dnsPolicy | toJson }}
{{- end }}
{{- if $.Values.dnsConfig }}
      dnsConfig: {{ $.Values.dnsConfig | toJson }}
{{- end }}
{{- else }}
  pod: {}
{{- end }}
  cert_dir: {{ $.Values.webhook.certDir | toJson }}
  check_interval: {{ toJson (or $.Values.webhook.certCheckInterval "") }}
  lookahead_interval: {{ toJson (or $.Values.webhook.lookaheadInterval "") }}
{{- if $.Values.webhook.service.enabled }}
  service:
    type: {{ $.Values.webhook.service.type | toJson }}
    labels: {{ toJson (or $.Values.webhook.service.labels dict) }}
    annotations: {{ toJson (or $.Values.webhook.service.annotations dict) }}
    load_balancer_ip: {{ toJson (or $.Values.webhook.service.loadBalancerIP "") }}
{{- else }}
  service: null
{{- end }}
{{- if $.Values.webhook.certManager.enabled }}
  cert_manager:
    inject: {{ $.Values.webhook.certManager.addInjectorAnnotations | toJson }}
    create: {{ $.Values.webhook.certManager.cert.create | toJson }}
    issuer: {{ $.Values.webhook.certManager.cert.issuerRef | toJson }}
    annotations: {{ toJson (or $.Values.webhook.certManager.cert.annotations dict) }}
    spec:
{{- if $.Values.webhook.certManager.cert.duration }}
      duration: {{ $.Values.webhook.certManager.cert.duration | toJson }}
{{- end }}
{{- if $.Values.webhook.certManager.cert.renewBefore }}
      renewBefore: {{ $.Values.webhook.certManager.cert.renewBefore | toJson }}
{{- end }}
{{- if $.Values.webhook.certManager.cert.revisionHistoryLimit }}
      revisionHistoryLimit: {{ $.Values.webhook.certManager.cert.revisionHistoryLimit | toJson }}
{{- end }}
{{- if $.Values.webhook.certManager.cert.privateKey }}
      privateKey: {{ $.Values.webhook.certManager.cert.privateKey | toJson }}
{{- end }}
{{- if $.Values.webhook.certManager.cert.signatureAlgorithm }}
      signatureAlgorithm: {{ $.Values.webhook.certManager.cert.signatureAlgorithm | toJson }}
{{- end }}
{{- else }}
  cert_manager: null
{{- end }}
{{- else }}
webhook: null
{{- end }}
{{- if $.Values.installCRDs }}
crds:
  annotations: {{ toJson (or $.Values.crds.annotations dict) }}
  serve_v1beta1: {{ $.Values.crds.unsafeServeV1Beta1 | toJson }}
  left_out:
{{- if not $.Values.crds.createClusterExternalSecret }}
    - ClusterExternalSecret
{{- end }}
{{- if not $.Values.crds.createClusterSecretStore }}
    - ClusterSecretStore
{{- end }}
{{- if not $.Values.crds.createSecretStore }}
    - SecretStore
{{- end }}
{{- if not $.Values.crds.createClusterGenerator }}
    - ClusterGenerator
{{- end }}
{{- if not $.Values.crds.createClusterPushSecret }}
    - ClusterPushSecret
{{- end }}
{{- if not $.Values.crds.createPushSecret }}
    - PushSecret
{{- end }}
{{- else }}
crds: null
{{- end }}
objects: {{ toJson (or $.Values.extraObjects list) }}
{{- end }}
