# The sidecar: docs/homes/sidecar.md.
#
#   docker build -t syncret .
#
# The base is any image with Python 3.11 or later, its venv module, libstdc++ and CA certificates: --build-arg BASE=IMAGE
# names another one, such as one of your own where no registry can be reached (`make image` makes one of Debian's packages).
#
# There is no HEALTHCHECK: query /healthz and /readyz on port 9847 (probes in docs/homes/sidecar.md).
ARG BASE=python:3.13-slim-bookworm

# hadolint ignore=DL3006
FROM ${BASE} AS build

# pip's own settings, to build with a mirror or from a folder of wheels. They do not reach the image.
ARG PIP_CERT
ARG PIP_FIND_LINKS
ARG PIP_INDEX_URL
ARG PIP_NO_INDEX

WORKDIR /build
COPY requirements/build.txt requirements/runtime.txt requirements/
RUN python3 -m venv /opt/syncret \
    && /opt/syncret/bin/pip install --no-cache-dir --require-hashes --only-binary :all: \
        -r requirements/build.txt -r requirements/runtime.txt
# botocore describes every AWS service, in 24 MB; only these are used (sso: for mounted profiles).
RUN find /opt/syncret/lib/python3*/site-packages/botocore/data -mindepth 1 -maxdepth 1 -type d \
        ! -name acm ! -name 'ecr*' ! -name resourcegroupstaggingapi ! -name secretsmanager ! -name ssm \
        ! -name 'sso*' ! -name sts \
        -exec rm -r {} +

# In this order, so that a changed line of code does not reinstall the libraries.
COPY LICENSE README.md pyproject.toml setup.py ./
COPY config config
COPY providers providers
COPY daemon daemon
RUN /opt/syncret/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /opt/syncret/bin/pip uninstall --yes --quiet setuptools pip \
    && python3 -m compileall -q /opt/syncret/lib \
    && install -d /image/empty

# hadolint ignore=DL3006
FROM ${BASE}

LABEL org.opencontainers.image.title="syncret" \
      org.opencontainers.image.description="Keeps secrets in sync between secret managers and files" \
      org.opencontainers.image.licenses="Apache-2.0"

COPY --from=build /opt/syncret /opt/syncret
# Mount points: /manifests is read, the other three are written; everything else may be read-only.
COPY --from=build /image/empty /manifests
COPY --from=build --chown=65532:65532 /image/empty /run/syncret
COPY --from=build --chown=65532:65532 /image/empty /secrets
COPY --from=build --chown=65532:65532 /image/empty /var/lib/syncret

ENV PATH=/opt/syncret/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SYNCRET_LISTEN=0.0.0.0:9847 \
    SYNCRET_MANIFESTS=/manifests \
    SYNCRET_OUTPUT_DIR=/secrets

USER 65532:65532
WORKDIR /
EXPOSE 9847
STOPSIGNAL SIGTERM
ENTRYPOINT ["syncret"]
CMD ["run"]
