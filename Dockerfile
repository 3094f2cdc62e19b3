# gllint as an image: docker build -t gllint . && docker run --rm -v "$PWD:/src:ro" gllint check
FROM python:3.12-slim AS build
WORKDIR /gllint
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY gllint gllint
COPY rules rules
COPY runtime runtime
RUN pip wheel --no-cache-dir --wheel-dir /wheels .

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels gllint
# The sources are mounted, perhaps read-only and another user's: the cache is the container's own.
ENV GLLINT_CACHE_DIR=/tmp PYTHONUTF8=1
RUN useradd --create-home gllint
USER gllint
WORKDIR /src
ENTRYPOINT ["gllint"]
CMD ["check"]
