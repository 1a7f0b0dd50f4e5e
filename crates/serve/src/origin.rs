//! Which hosts requests may be for, and from pages of which origins they may come.
//!
//! A page of any site can send requests to a server on the same machine, and by a name that it
//! controls (DNS rebinding) even read the answers. So a request must be for a host that is
//! expected, and one from a page must come from the server's own, or from an origin that is
//! allowed.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use axum::http::{StatusCode, uri::Authority};

use crate::api_error::ApiError;

/// Which hosts and origins are allowed.
pub struct OriginRules {
    /// `None`: any host.
    hosts: Option<Vec<String>>,
    origins: Vec<String>,
}

impl OriginRules {
    /// Creates the rules of a server at `address`.
    pub fn new(address: SocketAddr, hosts: &[String], origins: &[String]) -> Self {
        let is_restricted = address.ip().is_loopback() || !hosts.is_empty();
        let lower = |name: &String| name.trim_end_matches('/').to_ascii_lowercase();
        Self {
            hosts: is_restricted.then(|| hosts.iter().map(lower).collect()),
            origins: origins.iter().map(lower).collect(),
        }
    }

    /// Checks the headers of a request. Returns the origin to allow in the response, if the request
    /// comes from a page of another origin.
    pub fn check(
        &self,
        headers: &HeaderMap,
        uri_authority: Option<&Authority>,
    ) -> Result<Option<HeaderValue>, ApiError> {
        let host = match (uri_authority, headers.get(HOST)) {
            (Some(authority), _) => authority.as_str(),
            (None, Some(host)) => text(host)?,
            (None, None) => return Err(ApiError::bad_request("the header Host is missing")),
        };
        if !self.allows_host(host) {
            return Err(forbidden(format!(
                "the request is for the host {host:?}, which is not expected; --allow-host \
                 allows it"
            )));
        }
        let Some(header) = headers.get(ORIGIN) else {
            return Ok(None);
        };
        let origin = text(header)?.to_ascii_lowercase();
        let own = origin.split_once("://").map(|(_, authority)| authority);
        if own.is_some_and(|own| own.eq_ignore_ascii_case(host)) {
            return Ok(None);
        }
        match self.origins.iter().any(|o| *o == "*" || *o == origin) {
            true => Ok(Some(header.clone())),
            false => Err(forbidden(format!(
                "pages of {origin} may not use this server; --allow-origin allows them"
            ))),
        }
    }

    fn allows_host(&self, host: &str) -> bool {
        let Some(hosts) = &self.hosts else {
            return true;
        };
        host.parse::<Authority>().is_ok_and(|authority| {
            let name = authority.host().to_ascii_lowercase();
            let address = name.trim_start_matches('[').trim_end_matches(']').parse();
            let is_local = name == "localhost" || address.is_ok_and(|ip: IpAddr| ip.is_loopback());
            is_local || hosts.contains(&name)
        })
    }
}

fn text(value: &HeaderValue) -> Result<&str, ApiError> {
    let text = value.to_str();
    text.map_err(|_| ApiError::bad_request("the header Host or Origin is not ASCII"))
}

fn forbidden(message: String) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: &OriginRules, host: &str, origin: Option<&str>) -> Option<bool> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        let allowed = rules.check(&headers, None).ok()?;
        Some(allowed.is_some())
    }

    fn rules(address: &str, hosts: &[&str], origins: &[&str]) -> OriginRules {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        OriginRules::new(address.parse().unwrap(), &owned(hosts), &owned(origins))
    }

    #[test]
    fn a_local_server_answers_only_to_local_names() {
        let local = rules("127.0.0.1:80", &[], &[]);
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:9",
            "[::1]:80",
            "127.1.2.3",
        ] {
            assert_eq!(check(&local, host, None), Some(false), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:80",
            "10.0.0.1",
            "a b",
            "",
        ] {
            assert_eq!(check(&local, host, None), None, "{host}");
        }
    }

    #[test]
    fn a_server_of_the_network_answers_to_any_name_or_to_those_allowed() {
        assert_eq!(
            check(&rules("0.0.0.0:80", &[], &[]), "any.example", None),
            Some(false)
        );
        let named = rules("0.0.0.0:80", &["Tag.Example"], &[]);
        assert_eq!(check(&named, "tag.example:80", None), Some(false));
        assert_eq!(check(&named, "other.example", None), None);
        assert_eq!(check(&named, "localhost", None), Some(false));
    }

    #[test]
    fn pages_of_other_origins_need_to_be_allowed() {
        let own = rules("127.0.0.1:80", &[], &[]);
        assert_eq!(
            check(&own, "localhost:80", Some("http://localhost:80")),
            Some(false)
        );
        for origin in ["http://localhost:81", "https://evil.example", "null", ""] {
            assert_eq!(check(&own, "localhost:80", Some(origin)), None, "{origin}");
        }
        let some = rules("127.0.0.1:80", &[], &["https://a.example/"]);
        assert_eq!(
            check(&some, "localhost", Some("https://a.example")),
            Some(true)
        );
        assert_eq!(check(&some, "localhost", Some("http://a.example")), None);
        let any = rules("127.0.0.1:80", &[], &["*"]);
        assert_eq!(check(&any, "localhost", Some("null")), Some(true));
    }
}
