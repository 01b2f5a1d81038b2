"""Fifty templates as teams write them: connections, configuration files, JSON, environments, keystores."""

from typing import Final

CONNECTIONS: Final = (
    "postgres://{{ .user }}:{{ .password }}@{{ .host }}:{{ .port }}/app",
    "postgres://{{ .user | urlquery }}:{{ .password | urlquery }}@{{ .host }}/app?sslmode=require",
    "mysql://{{ .user }}:{{ .password | urlquery }}@tcp({{ .host }}:{{ .port }})/app",
    "mongodb+srv://{{ .user }}:{{ .password | urlquery }}@{{ .host }}/?retryWrites=true",
    "redis://:{{ .password }}@{{ .host }}:{{ .port }}/0",
    "amqp://{{ .user }}:{{ .password | urlquery }}@{{ .host | lower }}:5672/%2f",
    "Server={{ .host }},{{ .port }};User Id={{ .user }};Password={{ .password }};Encrypt=true",
    "jdbc:oracle:thin:{{ .user | upper }}/{{ .password }}@{{ .host }}:{{ .port }}/ORCL",
    'sqlserver://{{ printf "%s:%s@%s:%s" .user (urlquery .password) .host .port }}?database=app',
    'smtp://{{ .user | replace "@" "%40" }}:{{ .password }}@{{ .host }}:587',
)
FILES: Final = (
    "[database]\nhost = {{ .host }}\nport = {{ .port }}\nuser = {{ .user }}\npassword = {{ .password }}\n",
    '[client]\nuser="{{ .user }}"\npassword="{{ .password }}"\n{{ if .host }}host={{ .host }}\n{{ end }}',
    "database:\n  host: {{ .host | quote }}\n  port: {{ .port | int }}\n  user: {{ .user | quote }}\n",
    "spring.datasource.url=jdbc:postgresql://{{ .host }}/app\nspring.datasource.password={{ .password }}\n",
    "machine {{ .host }}\nlogin {{ .user }}\npassword {{ .password }}\n",
    "{{ .host }}:{{ .port }}:*:{{ .user }}:{{ .password }}\n",
    "upstream app {\n{{- range splitList `,` .hosts }}\n  server {{ trim . }}:8080;\n{{- end }}\n}\n",
    "{{ range $i, $host := splitList `,` .hosts }}server.{{ add $i 1 }}={{ $host }}:2888:3888\n{{ end }}",
    "<server><id>{{ .host }}</id><user>{{ .user }}</user><key>{{ .password | html }}</key></server>\n",
    "config: |\n{{ .config | fromJson | toYaml | indent 2 }}\n",
)
JSON: Final = (
    '{"user": {{ .user | toJson }}, "password": {{ .password | toJson }}}',
    '{{ dict "user" .user "password" .password "host" .host | toJson }}',
    '{{ dict "user" .user "password" .password "host" .host "port" (.port | int) | toPrettyJson }}',
    '{"auths":{"{{ .host }}":{"auth":"{{ printf "%s:%s" .user .password | b64enc }}"}}}',
    '{"auths":{ {{- .host | toJson }}:{"username":{{ .user | toJson }},"email":"ops@example.com"}}}',
    "{{ $c := .config | fromJson }}{{ $c.database.host }}:{{ $c.database.port }}",
    '{{ $c := .config | fromJson }}{{ $_ := set $c "password" .password }}{{ $c | toJson }}',
    "{{ $c := .config | fromJson }}{{ range $c.replicas }}{{ .name }}={{ .weight }};{{ end }}",
    '{{ (.config | fromJson).database | merge (dict "password" .password) | toJson }}',
    '{{ .hosts | splitList "," | toJson }}',
)
ENVIRONMENTS: Final = (
    "DB_USER={{ .user }}\nDB_PASSWORD={{ .password }}\nDB_HOST={{ .host }}\nDB_PORT={{ .port }}\n",
    "export DB_USER={{ .user | squote }}\nexport DB_PASSWORD={{ .password | squote }}\n",
    '{{ range $k, $v := . }}{{ if hasPrefix "env_" $k }}{{ $k | upper }}={{ $v }}\n{{ end }}{{ end }}',
    '{{- if eq .env_stage "prod" }}warn{{ else if eq .env_stage "test" }}debug{{ else }}info{{ end -}}',
    '{{ .user | default "app" }}:{{ .password | sha256sum }}',
    '{{ with .env_region }}{{ . }}{{ end }}{{ if and .user (ne .port "0") }} PORT={{ .port }}{{ end }}',
    '{{ ternary "yes" "no" (contains "," .hosts) }} {{ .hosts | splitList "," | first }}',
    "{{ .password | b64enc | b64enc }}",
    '{{ define "pair" }}{{ .k }}={{ .v | quote }}{{ end }}{{ template "pair" (dict "k" "A" "v" .user) }}',
    '{{ $o := list }}{{ range splitList "," .hosts }}{{ $o = append $o . }}{{ end }}{{ $o | join " " }}',
)
KEYSTORES: Final = (
    "{{ pemToPkcs12 .certificate .key | b64dec }}",
    "{{ pemToPkcs12Pass .certificate .key .password | b64dec }}",
    "{{ fullPemToPkcs12 .chain .key | b64dec }}",
    "{{ fullPemToPkcs12Pass .chain .key .password | b64dec }}",
    "{{ .keystore | pkcs12cert }}",
    "{{ .keystore | pkcs12key }}",
    '{{ .chain | filterPEM "CERTIFICATE" }}',
    '{{ .chain | filterCertChain "leaf" }}',
    "{{ .jwk | jwkPublicKeyPem }}",
    "{{ .certificate }}{{ .key }}",
)
GROUPS: Final = {
    "connection strings": CONNECTIONS,
    "configuration files": FILES,
    "JSON": JSON,
    "environments": ENVIRONMENTS,
    "keystores": KEYSTORES,
}

CONFIG: Final = (
    b'{"database":{"host":"db.example.com","port":5432,"name":"app","tls":true},'
    b'"replicas":[{"name":"a","weight":1},{"name":"b","weight":2},{"name":"c","weight":3.5}],"note":"<none>"}'
)
DATA: Final = {
    "user": b"app@example.com",
    "password": b"p@ss/w0rd & more",
    "host": b"db.example.com",
    "port": b"5432",
    "hosts": b"a.example.com,b.example.com,c.example.com",
    "config": CONFIG,
    "env_stage": b"test",
    "env_region": b"eu-central-1",
}
